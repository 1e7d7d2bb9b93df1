"""OpenAI's and Anthropic's clients at a base URL of Callboard, in front of a small model that llama.cpp serves, and LangChain: those for
Python, and those for TypeScript, with the AI SDK, in `real_model.mjs`. What the model says is not known before; that there is something, is.

Arguments: the binary, and a folder for its store. The model's endpoint is in `CALLBOARD_TEST_MODEL_URL`."""

import json
import os
import subprocess
import sys

import anthropic
import openai
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from served import kept, serving

MODEL = "qwen2.5-coder-0.5b"
COLOUR = {"role": "user", "content": "Name a warm colour, in one word."}
NUMBERS = {"role": "user", "content": "Count from one to five, in words."}
# A model that was not asked anything before calls the tool.
WATER = {"role": "user", "content": "How high is the water in Dover?"}
DESCRIPTION = "The height of the water in a port"
PARAMETERS = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}


def tried_openai(server: str) -> None:
    def ask(session: str, most: int = 6, **more):
        client = openai.OpenAI(base_url=f"{server}/gateway/{session}/helper/openai/v1", api_key="any", max_retries=0)
        return client.chat.completions.create(model=MODEL, max_tokens=most, temperature=0, **more)

    plain = ask("real-openai", messages=[COLOUR])
    assert plain.choices[0].message.content.strip() and plain.usage.completion_tokens > 0, plain
    messages = [COLOUR, plain.choices[0].message.model_dump(), NUMBERS]
    pieces = [chunk.choices[0].delta.content or "" for chunk in ask("real-openai", messages=messages, stream=True)]
    assert len([piece for piece in pieces if piece]) > 1, pieces
    kept(server, "chat:helper", 4, "real-openai")
    function = {"name": "water_level", "description": DESCRIPTION, "parameters": PARAMETERS}
    tools = [{"type": "function", "function": function}]
    called = ask("real-openai-tools", 48, messages=[WATER], tools=tools, tool_choice="required").choices[0].message
    assert called.tool_calls and called.tool_calls[0].function.name == "water_level", called
    assert "port" in json.loads(called.tool_calls[0].function.arguments), called
    results = [{"role": "tool", "tool_call_id": call.id, "content": "87 centimetres"} for call in called.tool_calls]
    told = ask("real-openai-tools", messages=[WATER, called.model_dump(), *results], tools=tools, tool_choice="none")
    assert told.choices[0].message.content.strip(), told
    kept(server, "chat:helper", 3 + len(results), "real-openai-tools")
    colour = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}
    schema = {"name": "colour", "schema": {**colour, "additionalProperties": False}, "strict": True}
    wanted = {"type": "json_schema", "json_schema": schema}
    structured = ask("real-openai-json", 48, messages=[COLOUR], response_format=wanted).choices[0].message
    assert json.loads(structured.content)["colour"] in ["red", "blue"], structured
    kept(server, "chat:helper", 2, "real-openai-json")


def tried_anthropic(server: str) -> None:
    def ask(session: str, most: int = 6, **more):
        client = anthropic.Anthropic(base_url=f"{server}/gateway/{session}/helper/anthropic", api_key="any", max_retries=0)
        way = client.messages.stream if more.pop("stream", False) else client.messages.create
        return way(model=MODEL, max_tokens=most, extra_body={"temperature": 0}, **more)

    plain = ask("real-anthropic", messages=[COLOUR])
    assert plain.content[0].text.strip() and plain.usage.output_tokens > 0, plain
    with ask("real-anthropic", messages=[COLOUR, {"role": "assistant", "content": plain.content}, NUMBERS], stream=True) as stream:
        pieces = list(stream.text_stream)
        assert len(pieces) > 1 and stream.get_final_text() == "".join(pieces), pieces
    kept(server, "chat:helper", 4, "real-anthropic")
    tools = [{"name": "water_level", "description": DESCRIPTION, "input_schema": PARAMETERS}]
    called = ask("real-anthropic-tools", 48, messages=[WATER], tools=tools, tool_choice={"type": "any"})
    uses = [block for block in called.content if block.type == "tool_use"]
    assert uses and uses[0].name == "water_level" and "port" in uses[0].input, called
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "87 centimetres"} for block in uses]
    messages = [WATER, {"role": "assistant", "content": called.content}, {"role": "user", "content": results}]
    told = ask("real-anthropic-tools", messages=messages, tools=tools, tool_choice={"type": "none"})
    assert told.content[0].text.strip(), told
    kept(server, "chat:helper", 3 + len(results), "real-anthropic-tools")


def tried_langchain(server: str) -> None:
    base_url = f"{server}/gateway/real-langchain/helper/openai/v1"
    model = ChatOpenAI(model=MODEL, base_url=base_url, api_key="any", max_retries=0, temperature=0, max_tokens=6)
    colour, numbers = (HumanMessage(message["content"]) for message in (COLOUR, NUMBERS))
    plain = model.invoke([colour])
    assert plain.content.strip(), plain
    pieces = [chunk.content for chunk in model.stream([colour, plain, numbers])]
    assert len([piece for piece in pieces if piece]) > 1, pieces
    kept(server, "chat:helper", 4, "real-langchain")


def main() -> None:
    callboard, folder = sys.argv[1:]
    with serving(callboard, f"{folder}/real-model.db", os.environ["CALLBOARD_TEST_MODEL_URL"]) as server:
        tried_openai(server)
        print("the OpenAI client at the gateway with a real model: ok", flush=True)
        tried_anthropic(server)
        print("the Anthropic client at the gateway with a real model: ok", flush=True)
        tried_langchain(server)
        print("LangChain for Python at the gateway with a real model: ok", flush=True)
        subprocess.run(["node", "real_model.mjs", server, MODEL], check=True)


main()
