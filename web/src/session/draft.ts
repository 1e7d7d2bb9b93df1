/** What one writes: it outlives a look at another view, until it is saved or given up. */

import { Attempt } from "../api/attempt.svelte";
import { kept, type Kept } from "./kept.svelte";

export class Draft<T extends object> extends Attempt {
  private readonly memory: Kept<T>;

  constructor(
    /** What it is called within the session. */
    key: () => string,
    /** What one begins with. */
    private readonly fresh: T,
  ) {
    super();
    this.memory = kept(key, fresh);
  }

  get value(): T {
    return this.memory.value;
  }

  write(change: Partial<T>): void {
    this.memory.value = { ...this.value, ...change };
  }

  drop(): void {
    this.memory.value = this.fresh;
  }
}
