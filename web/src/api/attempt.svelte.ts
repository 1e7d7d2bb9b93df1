/** Something that one asks the server to do: whether it is under way, and why it failed. */

import { Problem } from "./problem";

export class Attempt {
  /** What is under way, by the name that it was begun with; absent where nothing is. */
  doing = $state<string>();
  /** Why the last attempt failed. */
  problem = $state.raw<Problem>();

  get busy(): boolean {
    return this.doing !== undefined;
  }

  async make(act: () => Promise<unknown>, what = ""): Promise<void> {
    this.doing = what;
    this.problem = undefined;
    try {
      await act();
    } catch (error) {
      this.problem = Problem.from(error);
    } finally {
      this.doing = undefined;
    }
  }
}
