"""The official Python client against Callboard, over both transports. Arguments: the binary, its store, and the server's address."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

CALLBOARD, STORE, SERVER = sys.argv[1:]


async def tried(session: str, streams) -> None:
    """What a worker's client does in a session."""
    told = []

    async def heard(message) -> None:
        told.append(message)

    async with ClientSession(streams[0], streams[1], message_handler=heard) as client:
        await client.initialize()
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert "get_prompt" in tools and "update_plan" not in tools and "create_session" not in tools, tools
        shown = (await client.call_tool("get_prompt", {})).content[0].text
        assert "You are writer" in shown, shown
        await client.subscribe_resource(f"callboard://{session}/threads/agent%3Awriter")
        said = await client.call_tool("send_message", {"content": "It is done."})
        assert not said.is_error and said.structured_content["messages"], said
        thread = (await client.read_resource(f"callboard://{session}/threads/agent%3Awriter")).contents[0].text
        assert "It is done." in thread, thread
        for _ in range(1200):
            if any("agent%3Awriter" in str(message) for message in told):
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError(f"not told: {told}")
        refused = await client.call_tool("write_context_set", {"name": "Facts", "content": "No."})
        assert refused.is_error and "may not" in refused.content[0].text, refused
        joined = (await client.get_prompt("join")).messages[0].content.text
        assert joined.startswith("You are writer, a worker"), joined


async def listened(session: str, server) -> None:
    """What a client of the newest protocol does, which has no connection of its own."""
    thread = f"callboard://{session}/threads/main"
    async with Client(server) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        assert any(tool.name == "update_plan" for tool in (await client.list_tools()).tools)
        async with client.listen(resource_subscriptions=[thread], resources_list_changed=True) as news:
            said = await client.call_tool("send_message", {"content": "Go on."})
            assert not said.is_error, said
            async with asyncio.timeout(120):
                told = {str(getattr(event, "uri", type(event).__name__)) async for event in first(news, 2)}
        assert told == {thread, "ResourcesListChanged"}, told


async def first(events, count: int):
    """The first of them."""
    async for event in events:
        yield event
        count -= 1
        if count == 0:
            return


async def main() -> None:
    agents = [{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]
    async with streamable_http_client(f"{SERVER}/mcp") as streams, ClientSession(streams[0], streams[1]) as client:
        await client.initialize()
        for session in ("python-http", "python-stdio"):
            made = await client.call_tool("create_session", {"id": session, "agents": agents})
            assert not made.is_error, made
    async with streamable_http_client(f"{SERVER}/mcp?session=python-http&as=writer") as streams:
        await tried("python-http", streams)
    print("the Python client over HTTP: ok", flush=True)
    await listened("python-http", f"{SERVER}/mcp?session=python-http&as=lead")
    print("the Python client over HTTP, the newest protocol: ok", flush=True)
    words = ["mcp", "--session", "python-stdio", "--as", "writer", "--store", STORE]
    async with stdio_client(StdioServerParameters(command=CALLBOARD, args=words)) as streams:
        await tried("python-stdio", streams)
    print("the Python client over stdio: ok", flush=True)
    words = ["mcp", "--session", "python-stdio", "--as", "lead", "--store", STORE]
    await listened("python-stdio", StdioServerParameters(command=CALLBOARD, args=words))
    print("the Python client over stdio, the newest protocol: ok", flush=True)


asyncio.run(main())
