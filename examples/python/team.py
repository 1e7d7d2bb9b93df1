#!/usr/bin/env python3
"""A writer and a critic share a board: each is shown what is meant for it, and what each says is kept.

    callboard serve &
    python3 examples/python/team.py

CALLBOARD_URL says where the board is, OPENAI_BASE_URL and OPENAI_API_KEY where a model is. Without a model the prompts
are printed that it would get. Needs nothing but Python.
"""

import json
import os
import sys
import threading
import urllib.error
import urllib.request

BOARD = os.environ.get("CALLBOARD_URL", "http://127.0.0.1:7420")
MODEL = os.environ.get("OPENAI_BASE_URL")


def say(text):
    """Prints a line whole, whichever thread prints beside it."""
    sys.stdout.write(f"{text}\n")


def send(method, url, body=None, headers={}):
    """Sends JSON and reads JSON. What the board refuses it explains: what, where, and what to do."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as refused:
        sys.exit(f"{method} {url}: {refused.read().decode()}")


def board(method, path, body=None):
    return send(method, f"{BOARD}/v1/sessions{path}", body)


def follow(path, after):
    """Prints what happens in a session, entry by entry, as it happens."""
    for line in urllib.request.urlopen(f"{BOARD}/v1/sessions{path}/events?after={after}"):
        if line.startswith(b"data: "):
            entry = json.loads(line[6:])
            say(f"  entry {entry['seq']}: {entry['type']} by {entry['by']}")


def turn(session, agent, thread):
    """One turn of an agent: the prompt that it may see, a model's answer to it, and the answer on the board."""
    wanted = {"agent": agent, "thread": thread, "format": "openai", "budget": 4000}
    prompt = board("POST", f"/{session}/prompt", wanted)
    say(f"{agent} is shown {prompt['tokens']} of at most {prompt['budget']} tokens")
    if MODEL is None:
        say(json.dumps(prompt["messages"], indent=2))
        return
    ask = {"model": os.environ.get("MODEL", "default"), "messages": prompt["messages"], "max_tokens": 60}
    key = {"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}"}
    said = send("POST", f"{MODEL}/chat/completions", ask, key)["choices"][0]["message"]["content"]
    say(f"{agent}: {said}")
    board("POST", f"/{session}/threads/{thread}/messages?as={agent}", {"messages": [{"role": "assistant", "content": said}]})


def main():
    agents = [
        {"name": "lead", "role": "manager"},
        {"name": "writer", "role": "worker", "instructions": "You write one sentence at a time."},
        {"name": "critic", "role": "worker", "instructions": "You name one weakness in one sentence."},
    ]
    made = board("POST", "", {"title": "Tides", "agents": agents})
    session = made["id"]
    threading.Thread(target=follow, args=(f"/{session}", made["head"]), daemon=True).start()

    # What is shared, and with whom. The critic is not told what the writer was asked for.
    sets = f"/{session}/context-sets"
    board("PUT", f"{sets}/Brief", {"content": "For sailors. At most two sentences.", "visible_to": ["lead", "writer"]})
    board("PUT", f"{sets}/Facts", {"content": "High water comes about 50 minutes later each day."})

    ask = {"messages": [{"role": "user", "content": "Say when high water comes."}]}
    board("POST", f"/{session}/threads/main/messages", ask)
    turn(session, "writer", "main")
    turn(session, "critic", "main")

    shown = board("POST", f"/{session}/prompt", {"agent": "critic", "thread": "main"})["text"]
    assert "50 minutes" in shown and "For sailors" not in shown
    say("the critic saw the facts, and never the brief")
    for message in board("GET", f"/{session}/threads/main/messages")["messages"]:
        say(f"{message.get('agent', 'user')}: {message['content']}")


if __name__ == "__main__":
    main()
