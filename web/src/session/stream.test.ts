import { expect, test } from "vitest";

import { Parser } from "./stream";

function events(...pieces: string[]): string[] {
  const heard: string[] = [];
  const parser = new Parser((event, data) => heard.push(`${event}: ${data}`));
  for (const piece of pieces) parser.push(piece);
  return heard;
}

test("an event is told when its empty line has come", () => {
  expect(events("id: 5\nevent: message.added\nda", 'ta: {"seq":5}\n')).toEqual([]);
  expect(events("id: 5\nevent: message.added\nda", 'ta: {"seq":5}\n', "\n")).toEqual(['message.added: {"seq":5}']);
});

test("lines of data are joined, and comments say nothing", () => {
  expect(events(": still here\n\ndata: a\r\ndata:b\r\n\r\n")).toEqual(["message: a\nb"]);
});
