// The base URLs of a server of Callboard, whose address is the argument, and what it has kept.
import assert from "node:assert/strict";

const [server] = process.argv.slice(2);

/** The base URL of a session with one agent, which the first request makes. */
export const base = (session, api) => `${server}/gateway/${session}/helper/${api}`;

/** Waits until the conversation of a session has so many messages, since a client may be done before its answer ends, and has had no branch. */
export async function kept(session, count) {
  let threads = [];
  for (let tries = 0; tries < 1200; tries += 1) {
    const response = await fetch(`${server}/v1/sessions/${session}/threads`);
    threads = (await response.json()).threads.map(({ name, messages }) => [name, messages]);
    if (threads[0]?.[1] === count) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.deepEqual(threads, [["chat:helper", count]]);
}
