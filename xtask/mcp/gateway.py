"""Clients of OpenAI and Anthropic at a base URL of Callboard, in front of the model of `endpoint.py`: the official ones for Python and
LangChain, and those for TypeScript in `gateway.mjs`.

Arguments: the binary, and a folder for its store."""

import json
import subprocess
import sys

import anthropic
import openai
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

import endpoint
import long_conversation
from endpoint import ASKED, PIXEL
from served import call, kept, serving

SEEN = "and the picture."
NAMES = ["look", "count"]
PARAMETERS = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


class Word(BaseModel):
    """What is asked for as JSON."""

    word: str


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
    assert seen.content.endswith(SEEN), ASKED[-1]
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
    messages += [*told.output, {"role": "user", "content": "As JSON."}]
    structured = client.responses.parse(model="gpt-4o", instructions="You count.", input=messages, text_format=Word)
    assert structured.output_parsed == Word(word="tide"), structured
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
    looked_at = {"role": "user", "content": [{"type": "input_text", "text": "What is this?"}, picture]}
    messages += [*structured.output, looked_at]
    seen = ask()
    assert seen.output_text.endswith(SEEN), ASKED[-1]
    # What was parsed goes back, and is known.
    kept(server, "chat:helper", 13, "py-responses")
    messages += [*seen.output, {"role": "user", "content": "Refuse."}]
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
    # The client hangs up at the last event, and what it goes on with is kept by then.
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
    picture = {"type": "image", "base64": PIXEL, "mime_type": "image/png"}
    messages += [AIMessage(structured.model_dump_json()), HumanMessage([{"type": "text", "text": "What is this?"}, picture])]
    seen = model.invoke(messages)
    assert seen.content.endswith(SEEN), ASKED[-1]
    kept(server, "chat:helper", 13, "py-langchain")
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
    messages += [{"role": "assistant", "content": told.content}, {"role": "user", "content": "As JSON."}]
    structured = client.messages.parse(messages=messages, output_format=Word, **ask)
    assert structured.parsed_output == Word(word="tide"), structured
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    looked_at = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    messages += [{"role": "assistant", "content": structured.content}, looked_at]
    seen = client.messages.create(messages=messages, **ask)
    assert seen.content[0].text.endswith(SEEN), ASKED[-1]
    # What was parsed goes back, and is known.
    kept(server, "chat:counter", 13)
    messages += [{"role": "assistant", "content": seen.content}, {"role": "user", "content": "Refuse."}]
    try:
        client.messages.create(messages=messages, **ask)
        raise AssertionError("the refusal did not pass")
    except anthropic.RateLimitError as error:
        assert "slowly" in str(error), error


def main() -> None:
    callboard, folder = sys.argv[1:]
    with serving(callboard, f"{folder}/gateway.db", endpoint.started()) as server:
        tried_openai(server)
        tried_responses(server)
        print("the OpenAI client at the gateway: ok", flush=True)
        long_conversation.tried(server)
        print("a long conversation with a small window at the gateway: ok", flush=True)
        tried_langchain(server)
        print("LangChain for Python at the gateway: ok", flush=True)
        agents = [{"name": "helper", "role": "worker"}, {"name": "counter", "role": "worker"}]
        call(server, "PATCH", "", {"agents": agents})
        tried_anthropic(server)
        print("the Anthropic client at the gateway: ok", flush=True)
        subprocess.run(["node", "gateway.mjs", server], check=True)


main()
