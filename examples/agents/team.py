#!/usr/bin/env python3
"""Three agents with a model of your own: lead directs writer and critic, and asks you, until the work is complete.

    callboard serve &
    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen2.5 python3 team.py "Write a haiku about tides."
"""

import json, os, sys, urllib.parse, urllib.request

BOARD = os.environ.get("CALLBOARD_URL", "http://127.0.0.1:7420") + "/v1/sessions"
MODEL = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1") + "/chat/completions"
KEY = {"Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")}
LEAD, WRITER = {"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker", "instructions": "You write."}
CRITIC = {"name": "critic", "role": "worker", "instructions": "You name the worst fault of a text, in one sentence."}


def call(url, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    return json.load(urllib.request.urlopen(request))


def ask(session, agent, thread, **more):
    """Asks the model with what the agent may see. Callboard notes the turn, and makes room first if it has to."""
    prompt = call(f"{session}/prompt", {"agent": agent, "thread": thread, "format": "openai", "record": True})
    answer = call(MODEL, {"model": os.environ.get("MODEL", "default"), "messages": prompt["messages"], **more}, KEY)
    return f"{session}/turns/{prompt['turn']}", answer, answer["choices"][0]["message"].get("content") or ""


def value(field):
    text = input(f"{field['label']}: ")
    return json.loads(text) if field["valueType"] in ("NUMBER", "BOOLEAN", "ARRAY") else text


task = " ".join(sys.argv[1:]) or "Write a haiku about tides."
session = f"{BOARD}/{call(BOARD, {'title': task, 'agents': [LEAD, WRITER, CRITIC]})['id']}"
messages = f"{session}/threads/main/messages"
call(messages, {"messages": [{"role": "user", "content": task}]})
for _ in range(12):
    shape = {"name": "directive", "schema": call(f"{session}/directives/schema")}
    turn, answer, text = ask(session, "lead", "main", response_format={"type": "json_schema", "json_schema": shape})
    try:
        directive = json.loads(text)
        done = call(turn, {"directive": directive, "usage": answer.get("usage")})  # lead is told what came of it
    except (ValueError, urllib.error.HTTPError) as error:  # nothing has changed, and lead is asked once more
        why = json.load(error)["detail"] if isinstance(error, urllib.error.HTTPError) else f"no JSON object ({error})"
        call(turn, {"error": why})
        call(messages, {"messages": [{"role": "system", "content": f"Your directive was refused: {why}"}]})
        continue
    to, form = directive.get("messageTo") or "user", done["directed"].get("form")
    print(f"lead to {to}: {directive.get('message')}")
    if to != "user":
        turn, answer, text = ask(session, to, f"agent:{to}")  # each worker has a thread of its own
        call(turn, {"message": answer} if text else {"error": "the model said nothing"})
        print(f"{to}: {text}")
    elif form:
        answers = {field["key"]: value(field) for field in form["fields"]}
        call(f"{session}/forms/{urllib.parse.quote(form['name'], safe='')}", {"answers": answers})
    elif directive.get("workflowComplete") or directive.get("message"):
        break
