/** Where one is. The URL alone says it, so that nothing is lost on reload and every place has a link. */

/** The views of a session, by the words in their addresses. The first one is shown when the address names none. */
export const VIEWS = [
  "conversation",
  "context-sets",
  "plan",
  "workflow",
  "variables",
  "browser",
  "context",
  "prompt",
  "timeline",
  "files",
  "steps",
  "recall",
  "access",
] as const;

export type View = (typeof VIEWS)[number];

/** What the query of an address says. A view may add keys of its own. */
export type Query = Readonly<Record<string, string>>;

/** A change of the query: `null` removes a key. */
export type QueryChange = Record<string, string | number | null | undefined>;

interface Place {
  /** The session; absent in the list of sessions. */
  session: string | undefined;
  view: View;
  query: Query;
}

/** What stays when one goes to another view: with whose eyes one looks, at which agent, thread and entry. */
const KEPT = ["as", "agent", "thread", "at"];

let place = $state.raw<Place>(read());

/** What the query of each view was when one was there last: of one session, with the same eyes. */
const left = new Map<View, Query>();

/** The present place. Reading a field makes a dependency on it. */
export const route = {
  get session() {
    return place.session;
  },
  get view() {
    return place.view;
  },
  get query() {
    return place.query;
  },
  /** The agent with whose eyes one looks; absent for the user. */
  get as() {
    return place.query["as"];
  },
};

/** The address of a view of a session, relative to the base. */
export function href(session: string, view: View, query: QueryChange = {}): string {
  return `sessions/${encodeURIComponent(session)}/${view}${search(query)}`;
}

/** The address of another view of the present session: what `KEPT` names stays, `change` comes on top. */
export function toView(view: View, change: QueryChange = {}): string {
  const kept = Object.fromEntries(KEPT.map((key) => [key, place.query[key]]));
  return href(place.session ?? "", view, { ...kept, ...change });
}

/** The address of a view as one left it: with what was chosen in it, and what `KEPT` names as it is now. */
export function backTo(view: View): string {
  if (view === place.view) return toView(view);
  const own = Object.entries(left.get(view) ?? {}).filter(([key]) => !KEPT.includes(key));
  return toView(view, Object.fromEntries(own));
}

/** Whether one is in a view again, at the very place in it where one was when one left it. */
export function isBack(): boolean {
  const before = left.get(place.view);
  const sorted = (query: Query) => JSON.stringify(Object.entries(query).sort());
  return before !== undefined && sorted(before) === sorted(place.query);
}

/** The present address with another query. */
export function withQuery(change: QueryChange): string {
  const query = { ...place.query, ...change };
  return place.session === undefined ? `./${search(query)}` : href(place.session, place.view, query);
}

/** Goes to an address relative to the base. What was chosen makes a step back; what slides replaces the present one. */
export function go(address: string, how: "push" | "replace" = "push"): void {
  const url = new URL(address, document.baseURI);
  if (url.href === location.href) return;
  if (how === "push") history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  arrive();
}

function arrive(): void {
  const before = place;
  place = read();
  if (before.session !== place.session || before.query["as"] !== place.query["as"]) left.clear();
  else left.set(before.view, before.query);
}

/** Changes the query of the present address. */
export function setQuery(change: QueryChange, how: "push" | "replace" = "push"): void {
  go(withQuery(change), how);
}

/** Lets links within the page change the place without loading the page again. */
export function followLinks(): () => void {
  addEventListener("popstate", arrive);
  document.addEventListener("click", click);
  return () => {
    removeEventListener("popstate", arrive);
    document.removeEventListener("click", click);
  };
}

function click(event: MouseEvent): void {
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (event.defaultPrevented || elsewhere || !link || link.target || link.hasAttribute("download")) return;
  if (!link.href.startsWith(document.baseURI) || !isOurs(new URL(link.href))) return;
  event.preventDefault();
  go(link.href);
}

function isOurs(url: URL): boolean {
  const path = url.pathname.slice(new URL(document.baseURI).pathname.length);
  return path === "" || path.startsWith("sessions/");
}

function read(): Place {
  const base = new URL(document.baseURI).pathname;
  const [first, session, view] = location.pathname.slice(base.length).split("/");
  const query = Object.fromEntries(new URLSearchParams(location.search));
  const known = VIEWS.find((name) => name === view) ?? VIEWS[0];
  return { session: first === "sessions" && session ? decoded(session) : undefined, view: known, query };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A broken escape is no name of a session; shown as it stands, the server says that there is none.
    return part;
  }
}

function search(query: QueryChange): string {
  const known = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(known.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text}`;
}
