"""An endpoint of a model that answers by a script, in the form of OpenAI's APIs and of Anthropic's."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What it was asked.
ASKED = []
# A picture of one pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# Models with a small window, one by a name that Callboard knows, and how many tokens their answers have, which are long.
SMALL, WINDOW, ANSWER = ["gpt-4", "own-model"], 8192, 900


def text_of(messages) -> str:
    """The texts of chat messages."""
    contents = [message["content"] for message in messages]
    parts = [[{"text": content}] if isinstance(content, str) else content for content in contents]
    return "\n".join(part.get("text", "") for part in sum(parts, []))


def tokens(messages) -> int:
    """At least so many tokens chat messages have: no token has letters of two words, or four digits."""
    return len(re.findall(r"[A-Za-z]+|[0-9]{1,3}", text_of(messages)))


def started() -> str:
    """Starts it; its base URL."""
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{model.server_port}/v1"


class Model(BaseHTTPRequestHandler):
    """Answers how many messages it was shown, and whether the last one has the picture, in the API's own form."""

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
        text = f"I was shown {len(shown)} messages{' and the picture' if self.sees(shown[-1]) else ''}."
        if body["model"] in SMALL and tokens(shown) > WINDOW - ANSWER:
            error = {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "the prompt is too long"}
            return self.send("application/json", json.dumps({"error": error}), 400)
        if body["model"] in SMALL:
            text = self.small(shown)
        if schema := self.schema(body):
            # As the clients write JSON, whom only the object is given.
            text = json.dumps({name: "tide" for name in schema["properties"]}, separators=(",", ":"))
        ways = {"completions": self.openai, "responses": self.respond, "messages": self.anthropic}
        answer = ways[self.path.rsplit("/", 1)[-1]](body, text)
        self.send("text/event-stream" if body.get("stream") else "application/json", answer)

    def sees(self, message) -> bool:
        """Whether a message has the picture, in the form of the API that was asked."""
        address = f"data:image/png;base64,{PIXEL}"
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        part, field, picture = {
            "completions": ("image_url", "image_url", address),
            "responses": ("input_image", "image_url", address),
            "messages": ("image", "source", source),
        }[self.path.rsplit("/", 1)[-1]]
        parts = message.get("content")
        found = [other.get(field) for other in parts if other["type"] == part] if isinstance(parts, list) else []
        return [value["url"] if part == "image_url" else value for value in found] == [picture]

    @staticmethod
    def small(shown) -> str:
        """A long answer, or the summary that Callboard asks for, which has the codes that it was shown."""
        if shown[0]["role"] != "system":
            return "It goes on. " * (ANSWER // 3)
        codes = sorted(set(re.findall(r"\b[A-Z]-[0-9]+-[A-Z]+", text_of(shown))))
        return " ".join([*["The user says how the tide comes and goes with moon, wind and rain."] * 10, *codes])

    @staticmethod
    def schema(body):
        """The schema that the answer is to have."""
        asked = body.get("response_format", {}).get("json_schema")
        asked = asked or body.get("text", {}).get("format") or body.get("output_config", {}).get("format") or {}
        return asked.get("schema")

    @staticmethod
    def openai(body, text: str) -> str:
        head = {"id": "c1", "created": 1, "model": body["model"]}
        read, written = (tokens(body["messages"]), ANSWER) if body["model"] in SMALL else (50, 6)
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
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
