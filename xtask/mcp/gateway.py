"""Clients of OpenAI and Anthropic at a base URL of Callboard, in front of a model of this script: the official ones for Python and
LangChain, and those for TypeScript in `gateway.mjs`.

Arguments: the binary, and a folder for its store."""

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

CALLBOARD, FOLDER = sys.argv[1:]
ASKED = []
# A picture of one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NAMES = ["look", "count"]
PARAMETERS = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


class Word(BaseModel):
    """What is asked for as JSON."""

    word: str


class Model(BaseHTTPRequestHandler):
    """Answers how many messages it was shown, in the API's own form."""

    def log_message(self, *_) -> None:
        pass

    def send(self, kind: str, body: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self) -> None:
        self.send("application/json", json.dumps({"object": "list", "data": [{"id": "gpt-4o", "object": "model"}]}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ASKED.append(body)
        if self.path.endswith("/embeddings"):
            return self.send("application/json", self.embeddings(body))
        shown = body["input"] if self.path.endswith("/responses") else body["messages"]
        if "Refuse." in json.dumps(shown[-1]):
            error = {"type": "rate_limit_error", "message": "slowly"}
            return self.send("application/json", json.dumps({"type": "error", "error": error}), 429)
        text = f"I was shown {len(shown)} messages."
        if "response_format" in body:
            text = json.dumps({"word": "tide"})
        ways = {"completions": self.openai, "responses": self.respond, "messages": self.anthropic}
        answer = ways[self.path.rsplit("/", 1)[-1]](body, text)
        self.send("text/event-stream" if body.get("stream") else "application/json", answer)

    @staticmethod
    def openai(body, text: str) -> str:
        head = {"id": "c1", "created": 1, "model": body["model"]}
        usage = {"prompt_tokens": 50, "completion_tokens": 6, "total_tokens": 56}
        names = [tool["function"]["name"] for tool in body.get("tools", [])]
        # All tools at once.
        calls = [
            {"id": f"t{number}", "type": "function", "function": {"name": name, "arguments": '{"word": "tide"}'}}
            for number, name in enumerate(names, 1)
        ]
        calls = calls if body["messages"][-1]["role"] == "user" else []
        message = {"role": "assistant", "content": None if calls else text} | ({"tool_calls": calls} if calls else {})
        finish = "tool_calls" if calls else "stop"
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        piece = {**head, "object": "chat.completion.chunk"}
        deltas = [{"content": part} for part in (text[:5], text[5:])]
        if calls:
            deltas = [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(calls)]
        choices = [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None} for delta in deltas]
        choices += [{"index": 0, "delta": {}, "finish_reason": finish}]
        pieces = [{**piece, "choices": [choice]} for choice in choices] + [{**piece, "choices": [], "usage": usage}]
        return "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"

    @staticmethod
    def embeddings(body) -> str:
        data = [{"object": "embedding", "index": 0, "embedding": [0.5, -0.5]}]
        return json.dumps({"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})

    @staticmethod
    def respond(body, text: str) -> str:
        is_result = body["input"][-1].get("type") == "function_call_output"
        names = [] if is_result else [tool["name"] for tool in body.get("tools", [])]
        arguments = '{"word": "tide"}'
        output = [
            {"type": "function_call", "id": f"f{number}", "call_id": f"t{number}", "name": name, "arguments": arguments, "status": "completed"}
            for number, name in enumerate(names, 1)
        ]
        part = {"type": "output_text", "text": text, "annotations": []}
        if not names:
            output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}]
        usage = {"input_tokens": 50, "output_tokens": 6, "total_tokens": 56}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": "r1", "object": "response", "created_at": 1, "status": "completed", "error": None}
        response |= {"model": body["model"], "output": output, "usage": usage, "incomplete_details": None, "metadata": {}}
        response |= {"instructions": None, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "temperature": 1, "top_p": 1}
        if not body.get("stream"):
            return json.dumps(response)
        events = [{"type": "response.created", "response": {**response, "status": "in_progress", "output": [], "usage": None}}]
        for at, item in enumerate(output):
            of_item = {"item_id": item["id"], "output_index": at}
            is_call = item["type"] == "function_call"
            begun = {**item, "status": "in_progress"} | ({"arguments": ""} if is_call else {"content": []})
            events += [{"type": "response.output_item.added", "output_index": at, "item": begun}]
            if is_call:
                of_call = "response.function_call_arguments"
                events += [{"type": f"{of_call}.delta", **of_item, "delta": arguments}]
                events += [{"type": f"{of_call}.done", **of_item, "name": item["name"], "arguments": arguments}]
            else:
                of_part = {**of_item, "content_index": 0}
                of_text = {**of_part, "logprobs": []}
                events += [{"type": "response.content_part.added", **of_part, "part": {**part, "text": ""}}]
                events += [{"type": "response.output_text.delta", **of_text, "delta": piece} for piece in (text[:5], text[5:])]
                events += [{"type": "response.output_text.done", **of_text, "text": text}]
                events += [{"type": "response.content_part.done", **of_part, "part": part}]
            events += [{"type": "response.output_item.done", "output_index": at, "item": item}]
        events += [{"type": "response.completed", "response": response}]
        numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in numbered)

    @staticmethod
    def anthropic(body, text: str) -> str:
        usage = {"input_tokens": 50, "output_tokens": 6}
        message = {"id": "m1", "type": "message", "role": "assistant", "model": body["model"], "usage": usage}
        last = body["messages"][-1]["content"]
        is_result = isinstance(last, list) and any(block["type"] == "tool_result" for block in last)
        names = [] if is_result else [tool["name"] for tool in body.get("tools", [])]
        blocks = [{"type": "text", "text": text}]
        if names:
            blocks = [
                {"type": "tool_use", "id": f"t{number}", "name": name, "input": {"word": "tide"}}
                for number, name in enumerate(names, 1)
            ]
        stop = {"stop_reason": "tool_use" if names else "end_turn", "stop_sequence": None}
        if not body.get("stream"):
            return json.dumps({**message, **stop, "content": blocks})
        events = [{"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "content": []}}]
        for at, block in enumerate(blocks):
            begun = {**block, "text": ""} if "text" in block else {**block, "input": {}}
            delta = {"type": "text_delta", "text": text}
            if "input" in block:
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": at, "content_block": begun},
                {"type": "content_block_delta", "index": at, "delta": delta},
                {"type": "content_block_stop", "index": at},
            ]
        events += [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": 6}}, {"type": "message_stop"}]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def tried_openai(server: str) -> None:
    client = openai.OpenAI(base_url=f"{server}/gateway/talk/helper/openai/v1", api_key="any", max_retries=0)
    assert [model.id for model in client.models.list()] == ["gpt-4o"]
    messages = [{"role": "system", "content": "You count."}, {"role": "user", "content": "How many?"}]
    ask = lambda **more: client.chat.completions.create(model="gpt-4o", messages=messages, **more)
    answer = ask()
    assert answer.choices[0].message.content.startswith("I was shown") and answer.usage.prompt_tokens == 50, answer
    messages += [answer.choices[0].message.model_dump(), {"role": "user", "content": "And now?"}]
    chunks = list(ask(stream=True))
    assert all(chunk.choices for chunk in chunks), chunks
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert streamed.startswith("I was shown"), streamed
    kept(server, "chat:helper", 4)
    messages += [{"role": "assistant", "content": streamed}, {"role": "user", "content": "Look both up."}]
    tools = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in NAMES]
    called = ask(tools=tools).choices[0].message
    assert [call.function.name for call in called.tool_calls] == NAMES, called
    results = [{"role": "tool", "tool_call_id": call.id, "content": f"Of {call.id}."} for call in called.tool_calls]
    messages += [called.model_dump(), *results]
    told = ask(tools=tools).choices[0].message
    assert told.content.startswith("I was shown"), told
    assert ASKED[-1]["messages"][-2:] == results, ASKED[-1]
    messages += [told.model_dump(), {"role": "user", "content": "As JSON."}]
    schema = {"name": "word", "schema": {"type": "object", "properties": {"word": {"type": "string"}}}}
    structured = ask(response_format={"type": "json_schema", "json_schema": schema})
    assert json.loads(structured.choices[0].message.content) == {"word": "tide"}, structured
    kept(server, "chat:helper", 11)
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    looked_at = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    messages += [structured.choices[0].message.model_dump(), looked_at]
    seen = ask().choices[0].message
    assert seen.content.startswith("I was shown") and PIXEL in json.dumps(ASKED[-1]["messages"][-1]), ASKED[-1]
    messages += [seen.model_dump(), {"role": "user", "content": "And now?"}]
    ask()
    kept(server, "chat:helper", 15)
    found = client.embeddings.create(model="small", input=["tide"], encoding_format="float")
    assert found.data[0].embedding == [0.5, -0.5] and ASKED[-1]["input"] == ["tide"], found
    try:
        ask(n=2)
        raise AssertionError("two answers were not refused")
    except openai.BadRequestError as error:
        assert "/n" in error.message, error
    messages += [{"role": "assistant", "content": "x"}, {"role": "user", "content": "Refuse."}]
    try:
        ask()
        raise AssertionError("the refusal did not pass")
    except openai.RateLimitError as error:
        assert "slowly" in error.message, error


def tried_responses(server: str) -> None:
    client = openai.OpenAI(base_url=f"{server}/gateway/py-responses/helper/openai/v1", api_key="any", max_retries=0)
    messages = [{"role": "user", "content": "How many?"}]
    ask = lambda **more: client.responses.create(model="gpt-4o", instructions="You count.", input=messages, **more)
    answer = ask()
    assert answer.output_text.startswith("I was shown") and answer.usage.input_tokens == 50, answer
    assert "You count." in ASKED[-1]["instructions"], ASKED[-1]
    messages += [*answer.output, {"role": "user", "content": "And now?"}]
    events = list(ask(stream=True))
    streamed = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert streamed.startswith("I was shown"), events
    messages += [*events[-1].response.output, {"role": "user", "content": "Look both up."}]
    tools = [{"type": "function", "name": name, "parameters": PARAMETERS, "strict": False} for name in NAMES]
    called = ask(tools=tools)
    assert [item.name for item in called.output] == NAMES, called
    results = [{"type": "function_call_output", "call_id": item.call_id, "output": f"Of {item.call_id}."} for item in called.output]
    messages += [*called.output, *results]
    told = ask(tools=tools)
    assert told.output_text.startswith("I was shown"), told
    kept(server, "chat:helper", 9, "py-responses")
    messages += [*told.output, {"role": "user", "content": "Refuse."}]
    try:
        ask()
        raise AssertionError("the refusal did not pass")
    except openai.RateLimitError as error:
        assert "slowly" in error.message, error


def tried_langchain(server: str) -> None:
    base_url = f"{server}/gateway/py-langchain/helper/openai/v1"
    model = ChatOpenAI(model="gpt-4o", base_url=base_url, api_key="any", max_retries=0)
    messages = [SystemMessage("You count."), HumanMessage("How many?")]
    plain = model.invoke(messages)
    assert plain.content.startswith("I was shown"), plain
    messages += [plain, HumanMessage("And now?")]
    streamed = None
    for chunk in model.stream(messages):
        streamed = chunk if streamed is None else streamed + chunk
    assert streamed.content.startswith("I was shown"), streamed
    # The client hangs up at the last event: what it goes on with has to be kept by then.
    kept(server, "chat:helper", 4, "py-langchain")
    messages += [streamed, HumanMessage("Look both up.")]
    tools = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in NAMES]
    called = model.bind_tools(tools).invoke(messages)
    assert [call["name"] for call in called.tool_calls] == NAMES, called
    messages += [called, *(ToolMessage(f"Of {call['id']}.", tool_call_id=call["id"]) for call in called.tool_calls)]
    told = model.bind_tools(tools).invoke(messages)
    assert told.content.startswith("I was shown"), told
    messages += [told, HumanMessage("As JSON.")]
    structured = model.with_structured_output(Word, method="json_schema").invoke(messages)
    assert structured == Word(word="tide"), structured
    kept(server, "chat:helper", 11, "py-langchain")
    try:
        model.invoke([HumanMessage("Refuse.")])
        raise AssertionError("the refusal did not pass")
    except openai.RateLimitError as error:
        assert "slowly" in error.message, error


def tried_anthropic(server: str) -> None:
    client = anthropic.Anthropic(base_url=f"{server}/gateway/talk/counter/anthropic", api_key="any", max_retries=0)
    messages = [{"role": "user", "content": "How many?"}]
    ask = {"model": "claude-test", "max_tokens": 100, "system": "You count."}
    answer = client.messages.create(messages=messages, **ask)
    assert answer.content[0].text.startswith("I was shown") and answer.usage.input_tokens == 50, answer
    messages += [{"role": "assistant", "content": [block.model_dump() for block in answer.content]}]
    messages += [{"role": "user", "content": [{"type": "text", "text": "And now?", "cache_control": {"type": "ephemeral"}}]}]
    with client.messages.stream(messages=messages, **ask) as stream:
        assert "".join(stream.text_stream).startswith("I was shown")
        streamed = stream.get_final_message()
    kept(server, "chat:counter", 4)
    messages += [{"role": "assistant", "content": streamed.content}, {"role": "user", "content": "Look both up."}]
    tools = [{"name": name, "input_schema": PARAMETERS} for name in NAMES]
    with client.messages.stream(messages=messages, tools=tools, **ask) as stream:
        called = stream.get_final_message()
    assert [(block.name, block.input) for block in called.content] == [(name, {"word": "tide"}) for name in NAMES], called
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": f"Of {block.id}."} for block in called.content]
    messages += [{"role": "assistant", "content": called.content}, {"role": "user", "content": results}]
    told = client.messages.create(messages=messages, tools=tools, **ask)
    assert told.content[0].text.startswith("I was shown"), told
    kept(server, "chat:counter", 9)
    try:
        client.messages.create(messages=[{"role": "user", "content": "Refuse."}], **ask)
        raise AssertionError("the refusal did not pass")
    except anthropic.RateLimitError as error:
        assert "slowly" in str(error), error


def call(server: str, method: str, path: str, body=None, session: str = "talk"):
    """A call of the API on a session."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server}/v1/sessions/{session}{path}", data, headers, method=method)
    return json.load(urllib.request.urlopen(request))


def kept(server: str, thread: str, count: int, session: str = "talk") -> None:
    """Waits until a conversation has so many messages: they are kept behind the answer."""
    for _ in range(1200):
        found = call(server, "GET", f"/threads/{thread}/messages", session=session)["messages"]
        if len(found) == count:
            return
        time.sleep(0.05)
    raise AssertionError(f"{thread} has {len(found)} messages, not {count}: {found}")


def main() -> None:
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    upstream = f"http://127.0.0.1:{model.server_port}/v1"
    words = [CALLBOARD, "serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{FOLDER}/gateway.db", "--json"]
    environment = {**os.environ, "OPENAI_BASE_URL": upstream, "ANTHROPIC_BASE_URL": upstream}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, cwd=FOLDER)
    try:
        server = json.loads(process.stdout.readline())["listening"]
        tried_openai(server)
        tried_responses(server)
        print("the OpenAI client at the gateway: ok", flush=True)
        tried_langchain(server)
        print("LangChain for Python at the gateway: ok", flush=True)
        agents = [{"name": "helper", "role": "worker"}, {"name": "counter", "role": "worker"}]
        call(server, "PATCH", "", {"agents": agents})
        tried_anthropic(server)
        print("the Anthropic client at the gateway: ok", flush=True)
        subprocess.run(["node", "gateway.mjs", server], check=True)
    finally:
        process.kill()


main()
