#!/usr/bin/env python3
"""A conversation without an end: one line in, one answer out, however much was said before.

    callboard serve &
    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen2.5 WINDOW=4000 python3 chat.py SESSION

When the prompt gets too large for the window, Callboard puts a summary in the place of the older messages. What the summary
leaves out is found again by recall. Start the program again with the same SESSION, and the conversation goes on.
"""

import json
import os
import sys
import urllib.error
import urllib.request

BOARD = os.environ.get("CALLBOARD_URL", "http://127.0.0.1:7420") + "/v1/sessions"
MODEL = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1") + "/chat/completions"
KEY = {"Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")}
WINDOW = int(os.environ.get("WINDOW", 8000))
ANSWER = WINDOW // 8


def post(url, body, headers={}):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def open_session(name):
    settings = {"budget": WINDOW - ANSWER, "answer_tokens": ANSWER, "recall": True}
    agents = [{"name": "guide", "role": "worker", "instructions": "You help the user, in few words."}]
    try:
        post(BOARD, {"id": name, "agents": agents, "prompt": settings, "ttl_seconds": "never"})
    except urllib.error.HTTPError as refused:
        if refused.code != 409:  # it is there already
            sys.exit(refused.read().decode())
    return f"{BOARD}/{name}"


def main(session):
    session = open_session(session)
    for line in sys.stdin:
        post(f"{session}/threads/main/messages", {"messages": [{"role": "user", "content": line.strip()}]})
        prompt = post(f"{session}/prompt", {"agent": "guide", "format": "openai", "record": True})
        request = {"model": os.environ.get("MODEL", "default"), "messages": prompt["messages"], "max_tokens": ANSWER}
        answer = post(MODEL, request, KEY)
        post(f"{session}/turns/{prompt['turn']}", {"message": answer})
        print(f"[{prompt['tokens']} tokens] {answer['choices'][0]['message']['content']}", flush=True)


main(*sys.argv[1:])
