/**
 * Tells a rich session over HTTP: a team at work on the report of an outage, with everything that the page can show. `npm run story -- http://127.0.0.1:7420 [SESSION]` tells it to a server.
 */

/** Names and texts that break pages which do not treat them as text. */
export const HOSTILE = {
  script: `<script>document.title = "broken"</script><img src=x onerror="document.title='broken'">`,
  style: `</style><style>body { display: none }</style>`,
  bidi: "\u05d0\u05d1\u05d2 (\u202egnorw\u202c) \u0645\u0631\u062d\u0628\u0627",
  long: "word ".repeat(200_000),
};

/** What only lead and writer are told. Whoever looks as critic must not find it anywhere. */
export const SECRET_DEADLINE = "The board meets on Friday 27 November; the report must be with them by 12:00.";

type Json = Record<string, unknown>;

export class Story {
  constructor(
    readonly base: string,
    readonly session: string,
  ) {}

  /** A session that holds no more than a team: a lead, and these workers. */
  static async bare(base: string, session: string, workers: string[] = [], more: Json = {}): Promise<Story> {
    const story = new Story(base, session);
    const agents = [{ name: "lead", role: "manager" }, ...workers.map((name) => ({ name, role: "worker" }))];
    await story.call("POST", "", { id: session, agents, ...more });
    return story;
  }

  /** One call; anything but success is an error that names it. */
  async call(method: string, path: string, body?: Json): Promise<Json> {
    const response = await fetch(`${this.base}/v1/sessions${path}`, {
      method,
      headers: body ? { "content-type": "application/json" } : {},
      body: body ? JSON.stringify(body) : null,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? {} : (JSON.parse(text) as Json);
  }

  /** A call within the session. */
  within(method: string, path: string, body?: Json): Promise<Json> {
    return this.call(method, `/${this.session}${path}`, body);
  }

  /** Messages to a thread: the user's, or those of an agent. */
  async say(thread: string, from: string, ...messages: Json[]): Promise<void> {
    const as = from === "user" ? "" : `?as=${from}`;
    await this.within("POST", `/threads/${encodeURIComponent(thread)}/messages${as}`, { messages });
  }

  set(name: string, content: string, visible_to: unknown, more: Json = {}): Promise<Json> {
    return this.within("PUT", `/context-sets/${encodeURIComponent(name)}`, { content, visible_to, ...more });
  }

  /** The whole of it; without `hostile`, what a team would say itself. */
  async tell({ hostile = true } = {}): Promise<void> {
    await this.begin();
    await this.talk();
    await this.sets();
    await this.direct();
    await this.plan();
    await this.build();
    await this.work();
    if (hostile) await this.hostile();
  }

  private async begin(): Promise<void> {
    const worker = (name: string, title: string, instructions: string) => ({
      name,
      role: "worker",
      title,
      instructions,
    });
    await this.call("POST", "", {
      id: this.session,
      title: "Outage of 18 November: cause, fix, report",
      agents: [
        { name: "lead", role: "manager", title: "Lead", instructions: "Find the cause, then have the report written." },
        worker("researcher", "Researcher", "Read logs and deploys. Give times and commits."),
        worker("writer", "Writer", "Write plainly. No claim without a source."),
        worker("critic", "Critic", "Say what is missing or unproven."),
      ],
      steps: [
        {
          name: "research",
          description: "Find the cause",
          is_default: true,
          sequence: ["search_logs", "list_deploys"],
        },
        {
          name: "draft",
          description: "Write the report",
          conditions: [{ type: "tool_used", value: "list_deploys" }],
          available_tools: { allowed: ["write"] },
        },
      ],
      ttl_seconds: "never",
    });
  }

  private async talk(): Promise<void> {
    for (const agent of ["researcher", "writer", "critic"]) {
      await this.within("PUT", `/threads/agent:${agent}`, { visible_to: ["lead", agent] });
    }
    const ai = (content: string, more: Json = {}) => ({ role: "assistant", content, ...more });
    await this.say(
      "main",
      "user",
      user("The board wants the report by Friday 12:00. Keep customers’ names out of it."),
    );
    const search = { id: "call-1", name: "search_logs", arguments: { query: "pool exhausted", from: "13:40" } };
    await this.say("agent:researcher", "lead", ai("Which deploys reached the checkout service after 13:40?"));
    await this.say(
      "agent:researcher",
      "researcher",
      ai("I look at the logs.", { tool_calls: [search] }),
      { role: "tool", tool_call_id: "call-1", content: logs(312) },
      ai("One deploy: **13:52, 4be91c7**. The pool went from 40 to 4 connections."),
    );
    await this.say("agent:critic", "lead", ai("What does the draft not prove?"));
    const missing =
      "1. “No customer was affected” rests on one query.\n2. It gives no time by which the fix must be out.";
    await this.say("agent:critic", "critic", ai(missing));
    for (let note = 1; note <= 30; note += 1) {
      await this.say("main", "user", user(`Note ${note}: ${"the pool, the deploy and the fix. ".repeat(note)}`));
    }
  }

  private async sets(): Promise<void> {
    await this.set(
      "Brief",
      "Find the cause of the checkout outage of 18 November and write a report of two pages.",
      "all",
    );
    await this.set("Deadline", SECRET_DEADLINE, ["lead", "writer"]);
    await this.set("Query findings", "Pool size 4 instead of 40.\np99 left its band at 13:54.", [
      "lead",
      "researcher",
      "critic",
    ]);
    await this.set(
      "Query findings",
      "Pool size 4 instead of 40, from commit 4be91c7.\np99 left its band at 13:54.\nRefunds ran on the same pool.",
      ["lead", "researcher", "critic"],
    );
    await this.set("Customers affected", "31 customers; their names are in the ticket.", ["lead"]);
    await this.set("Style of the report", "Plain words. Short sentences.", ["writer", "critic"]);
    await this.set("Old hypothesis", "A slow disk on the primary.", ["lead", "researcher"], { enabled: false });
  }

  private async direct(): Promise<void> {
    const fields = [
      {
        key: "readers",
        valueType: "ENUM",
        label: "Readers",
        required: true,
        enumValues: ["Board only", "All staff", "Public"],
      },
      { key: "names", valueType: "BOOLEAN", label: "Names of engineers", required: false },
    ];
    await this.within("POST", "/directives", {
      messageTo: "user",
      message: "Who may read the report? The writer’s style depends on it.",
      isInfoRequest: true,
      form: { name: "Publication", fields },
      contextSetUpdate: {
        contextSets: [
          {
            name: "Draft report",
            context: "Latency rose for 30 minutes.",
            newOrUpdate: "new",
            visibleToAgents: ["lead", "writer", "critic"],
          },
        ],
      },
    });
  }

  private async plan(): Promise<void> {
    const plan = (done: number, extra: Json[] = []) => ({
      overall_goal: "The board has a report that holds by Friday 12:00",
      current_phase: "Cause",
      phases: [
        {
          phase_name: "Cause",
          status: "in_progress",
          tasks: tasks(1, done, [
            "Read the logs",
            "Find the deploy",
            "Prove the pool size",
            "Ask the on-call engineer",
          ]),
        },
        {
          phase_name: "Report",
          status: "pending",
          tasks: [...tasks(5, 0, ["Draft two pages", "Let critic read it", "Send it by Friday 12:00"]), ...extra],
        },
      ],
    });
    await this.within("PUT", "/plan", { plan: plan(0), reason: "first plan" });
    await this.within("PUT", "/plan", { plan: plan(2), reason: "the deploy is found" });
    const checked = {
      task_id: 8,
      description: "Check refunds",
      status: "pending",
      notes: "critic: they ran on the same pool",
    };
    await this.within("PUT", "/plan", { plan: plan(3, [checked]), reason: "critic asked about refunds" });
  }

  private async build(): Promise<void> {
    for (const [type, description] of [
      ["http_request", "Get the deploys of the day"],
      ["filter", "Those of checkout"],
      ["email", "Tell the on-call engineer"],
    ]) {
      const { id } = await this.within("POST", "/workflow/nodes", { type, description, config: { retries: 2 } });
      if (type === "email") continue;
      await this.within("PUT", `/workflow/nodes/${String(id)}/result`, {
        status: "success",
        result: { rows: 1, commit: "4be91c7" },
      });
    }
    await this.within("PUT", "/variables/commit", { value: "4be91c7", reason: "found by researcher" });
    await this.within("PUT", "/variables/deploys", {
      value: [{ at: "13:52", commit: "4be91c7" }],
      reason: "for the report",
    });
    await this.within("PUT", "/variables/api_key", {
      value: "sk-story-not-to-be-shown",
      secret: true,
      reason: "for the ticket system",
    });
  }

  /** Turns as of a program that asks models itself, a step of the sequence, and a compression. */
  private async work(): Promise<void> {
    for (const [agent, thread] of [
      ["lead", "main"],
      ["critic", "agent:critic"],
      ["researcher", "agent:researcher"],
    ]) {
      const prompt = await this.within("POST", "/prompt", { agent, thread, record: true });
      const usage = { prompt_tokens: Number(prompt["tokens"]), completion_tokens: 96 };
      await this.within("POST", `/turns/${String(prompt["turn"])}`, { text: `${agent} has looked at it.`, usage });
    }
    await this.within("POST", "/orchestration/tools", { tool: "search_logs" });
    await this.within("POST", "/threads/main/compress", { target_tokens: 800, keep_recent_tokens: 300 });
  }

  private async hostile(): Promise<void> {
    await this.set(`Notes ${HOSTILE.script}`.slice(0, 100), HOSTILE.script + HOSTILE.style, ["lead", "critic"]);
    await this.set(`Mirror \u05d0\u05d1\u05d2`, HOSTILE.bidi, "all");
    await this.say("main", "user", user(HOSTILE.script), user(HOSTILE.style), user(HOSTILE.bidi));
    await this.say("agent:writer", "user", user(HOSTILE.long));
  }
}

const user = (content: string) => ({ role: "user", content });

function tasks(first: number, done: number, descriptions: string[]): Json[] {
  return descriptions.map((description, index) => ({
    task_id: first + index,
    description,
    status: index < done ? "completed" : index === done && first === 1 ? "in_progress" : "pending",
  }));
}

function logs(lines: number): string {
  return Array.from(
    { length: lines },
    (_, line) => `13:54:${String(line % 60).padStart(2, "0")} checkout-${line % 7} WARN pool exhausted`,
  ).join("\n");
}
