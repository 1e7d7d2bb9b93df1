"""The first version of the official Python client against Callboard, over both transports. Arguments: the binary, its store, and the
server's address."""

import asyncio
import subprocess
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

CALLBOARD, STORE, SERVER = sys.argv[1:]


async def tried(session: str, streams) -> None:
    """What a client does in a session, which it makes where it is not there."""
    async with ClientSession(streams[0], streams[1]) as client:
        await client.initialize()
        agents = [{"name": "lead", "role": "manager"}]
        made = await client.call_tool("create_session", {"id": session, "agents": agents})
        assert not made.isError and made.structuredContent["id"] == session, made
        facts = {"session": session, "name": "Facts", "content": "The sea rises."}
        written = await client.call_tool("write_context_set", facts)
        assert not written.isError and written.structuredContent["result"], written
        read = await client.read_resource(f"callboard://{session}/context-sets/Facts")
        assert read.contents[0].text == "The sea rises.", read
        shown = await client.call_tool("get_prompt", {"session": session, "agent": "lead"})
        assert "The sea rises." in shown.content[0].text, shown
        refused = await client.call_tool("read_context_set", {"session": session, "name": "Nothing"})
        assert refused.isError and "there is no context set" in refused.content[0].text, refused


def served(address: str) -> tuple[subprocess.Popen, str]:
    """A server on a store of its own, and where it listens."""
    store = f"{STORE}.python"
    words = [CALLBOARD, "serve", "--listen", address, "--store", store]
    folder = Path(store.removeprefix("sqlite:")).parent
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=folder)
    return process, process.stdout.readline().strip().removeprefix("listening on ")


async def restarted() -> None:
    """A client whose server is killed and started again goes on."""
    process, url = served("127.0.0.1:0")
    try:
        async with streamable_http_client(f"{url}/mcp") as streams, ClientSession(streams[0], streams[1]) as client:
            await client.initialize()
            agents = [{"name": "lead", "role": "manager"}]
            made = await client.call_tool("create_session", {"id": "restarted", "agents": agents})
            assert not made.isError, made
            process.kill()
            process.wait()
            process, _ = served(url.removeprefix("http://"))
            shown = await client.call_tool("get_prompt", {"session": "restarted", "agent": "lead"})
            assert not shown.isError, shown
    finally:
        process.kill()
        process.wait()


async def main() -> None:
    async with streamable_http_client(f"{SERVER}/mcp") as streams:
        await tried("python-1-http", streams)
    print("the Python client 1 over HTTP: ok", flush=True)
    await restarted()
    print("the Python client 1 over a restart: ok", flush=True)
    async with stdio_client(StdioServerParameters(command=CALLBOARD, args=["mcp", "--store", STORE])) as streams:
        await tried("python-1-stdio", streams)
    print("the Python client 1 over stdio: ok", flush=True)


asyncio.run(main())
