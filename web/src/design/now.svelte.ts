import { createSubscriber } from "svelte/reactivity";

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 10_000);
  return () => clearInterval(timer);
});

/** The present time, for what is shown relative to it. Where it is read in a component, it is read again every ten seconds. */
export function now(): number {
  subscribe();
  return Date.now();
}
