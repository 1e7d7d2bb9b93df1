#!/usr/bin/env python3
"""Follows a session and prints what is said in it, as it happens. It misses nothing while the server is restarted.

    python3 follow.py SESSION [AFTER]     AFTER is the entry to begin behind; 0 is the beginning
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

BOARD = os.environ.get("CALLBOARD_URL", "http://127.0.0.1:7420")


def events(session, last):
    """The events of one connection. The id of an event is the number of its entry."""
    url = f"{BOARD}/v1/sessions/{session}/events?types=message.added"
    request = urllib.request.Request(url, headers={"Last-Event-ID": str(last)})
    event = {}
    with urllib.request.urlopen(request, timeout=60) as stream:  # it sends a comment when nothing happens
        for line in stream:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
            elif event:
                if "id" in event:
                    yield int(event["id"]), json.loads(event["data"])
                event = {}


def main(session, last=0):
    last = int(last)
    while True:
        try:
            for last, entry in events(session, last):
                message = entry["data"]
                print(f"{entry['seq']} {message.get('agent', 'user')}: {message['content']}", flush=True)
        except urllib.error.HTTPError as refused:
            sys.exit(refused.read().decode())
        except OSError:
            time.sleep(0.5)  # the server is away: go on behind the last entry


main(*sys.argv[1:])
