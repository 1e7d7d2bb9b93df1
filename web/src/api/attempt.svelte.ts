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

  /** What is wrong with the field whose JSON pointer begins so. */
  faultOf(field: string): string | undefined {
    return this.problem?.field?.startsWith(field) ? this.problem.detail : undefined;
  }

  /** The problem, unless it is with one of these fields, which says so itself. */
  problemBeside(fields: readonly string[]): Problem | undefined {
    return fields.some((field) => this.faultOf(field)) ? undefined : this.problem;
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
