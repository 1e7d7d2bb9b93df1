#!/usr/bin/env python3
"""Three agents with a model of your own: lead directs writer and critic until it says that the work is complete.

    callboard serve &
    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen2.5 python3 team.py "Write a haiku about tides."
"""

import json
import os
import sys
import urllib.request

BOARD = os.environ.get("CALLBOARD_URL", "http://127.0.0.1:7420") + "/v1/sessions"
MODEL = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1") + "/chat/completions"
KEY = {"Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")}
AGENTS = [
    {"name": "lead", "role": "manager"},
    {"name": "writer", "role": "worker", "instructions": "You write."},
    {"name": "critic", "role": "worker", "instructions": "You name the worst fault of a text, in one sentence."},
]


def call(url, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def ask(session, agent, **more):
    """Asks the model with what the agent may see. Callboard notes the turn, and makes room first if it has to."""
    prompt = call(f"{session}/prompt", {"agent": agent, "format": "openai", "record": True})
    request = {"model": os.environ.get("MODEL", "default"), "messages": prompt["messages"], **more}
    answer = call(MODEL, request, KEY)
    return prompt["turn"], answer, answer["choices"][0]["message"]["content"]


def main(task):
    session = f"{BOARD}/{call(BOARD, {'title': task, 'agents': AGENTS})['id']}"
    call(f"{session}/threads/main/messages", {"messages": [{"role": "user", "content": task}]})
    for _ in range(12):
        form = {"name": "directive", "schema": call(f"{session}/directives/schema")}
        turn, answer, text = ask(session, "lead", response_format={"type": "json_schema", "json_schema": form})
        directive = json.loads(text)
        call(f"{session}/directives", directive)  # shares context sets, each with those who may see it
        call(f"{session}/turns/{turn}", {"text": directive.get("message", "Go on."), "usage": answer.get("usage")})
        print(f"lead to {directive.get('messageTo', 'user')}: {directive.get('message')}")
        if directive.get("workflowComplete") or directive.get("messageTo", "user") == "user":
            break
        worker = directive["messageTo"]
        turn, answer, text = ask(session, worker)
        call(f"{session}/turns/{turn}", {"message": answer})
        print(f"{worker}: {text}")


main(" ".join(sys.argv[1:]) or "Write a haiku about tides.")
