//! `callboard turns`.

use callboard_api as api;
use callboard_engine::core::id::{AgentName, RunId};
use clap::{Args, Subcommand};

use super::{Context, prompt};
use crate::{
    cli::On,
    client::OnSession,
    failure::Failure,
    output::{Output, joined},
};

/// Turns: which models were asked, and with which prompts (show)
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  callboard turns\n  callboard turns --agent writer --limit 5\n  callboard turns show 57\n  callboard turns show r6/5 --prompt\n\nIt lists the turns of runs, and those recorded by programs that ask models themselves."
)]
pub(crate) struct Turns {
    #[command(subcommand)]
    pub(crate) command: Option<TurnsCommand>,
    #[command(flatten)]
    pub(crate) on: On,
    /// Only turns of this agent
    #[arg(id = "whose", long = "agent", value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
    /// At most this many turns, counted from the newest (default: 100)
    #[arg(short = 'n', long, value_name = "N", value_parser = crate::parse::limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TurnsCommand {
    /// Show a turn, or its prompt as it was sent
    #[command(after_help = "Examples:\n  callboard turns show 57\n  callboard turns show r6/5 --prompt")]
    Show {
        #[command(flatten)]
        on: On,
        /// The number of the turn, or its run and its number there, such as r6/5
        #[arg(value_name = "TURN", value_parser = named)]
        turn: NamedTurn,
        /// Show the prompt as the model got it
        #[arg(long)]
        prompt: bool,
    },
}

/// A turn as it is named on the command line.
#[derive(Clone, Debug)]
pub(crate) enum NamedTurn {
    /// By the entry that requested it.
    Number(u64),
    /// By its run and its number there.
    OfRun(RunId, u64),
}

fn named(text: &str) -> Result<NamedTurn, String> {
    let of_run = |(run, number): (&str, &str)| Some(NamedTurn::OfRun(run.parse().ok()?, number.parse().ok()?));
    let number = || text.parse().ok().map(NamedTurn::Number);
    let turn = text.split_once('/').and_then(of_run).or_else(number);
    turn.ok_or_else(|| "use the number of a turn, as `callboard turns` lists it, or RUN/N such as r6/5".to_owned())
}

impl NamedTurn {
    /// The number of the turn, as the API takes it.
    async fn number(self, session: &OnSession<'_>) -> Result<String, Failure> {
        let (run, number) = match self {
            Self::Number(number) => return Ok(number.to_string()),
            Self::OfRun(run, number) => (run, number),
        };
        let mut cursor = None;
        loop {
            let call = session.get(&["turns"]).maybe("cursor", cursor.as_ref());
            let page = call.answer::<api::TurnList>().await?.it;
            let is_it = |turn: &&api::Turn| turn.run.as_ref() == Some(&run) && turn.turn_of_run == Some(number);
            if let Some(turn) = page.turns.iter().find(is_it) {
                return Ok(turn.turn.to_string());
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Err(Failure::failed("not_found", format!("there is no turn {number} of the run {run}"))
                    .hint("`callboard turns` lists the turns"));
            }
        }
    }
}

pub(super) async fn execute(context: &Context, args: Turns) -> Result<(), Failure> {
    let output = context.output;
    match args.command {
        None => {
            let session = context.session_on(&args.on).await?;
            let call = session.get(&["turns"]).maybe("agent", args.agent.as_ref()).maybe("limit", args.limit);
            let turns = call.answer::<api::TurnList>().await?;
            if let Some(agent) = args.agent.filter(|_| turns.it.turns.is_empty()) {
                check_agent(&session, &agent).await?;
            }
            turns.print(output, |list, output| table(&list.turns, output));
            Ok(())
        }
        Some(TurnsCommand::Show { on, turn, prompt }) => {
            let session = context.session_on(&on).await?;
            let number = turn.number(&session).await?;
            if prompt {
                return session.get(&["turns", &number, "prompt"]).print(output, sent).await;
            }
            let one = |turn: &api::Turn, output: Output| table(std::slice::from_ref(turn), output);
            session.get(&["turns", &number]).print(output, one).await
        }
    }
}

fn sent(sent: &api::SentPrompt, output: Output) {
    prompt::show(&sent.prompt, output);
    if !sent.as_sent {
        output.note("this is not byte for byte what was sent: something was erased or became a secret since, or the layout changed");
    }
}

/// Refuses a name that no agent of the team has.
async fn check_agent(session: &OnSession<'_>, name: &AgentName) -> Result<(), Failure> {
    let team = session.get(&[]).answer::<api::Session>().await?.it.agents;
    if team.iter().any(|agent| agent.name == *name) {
        return Ok(());
    }
    let team = joined(team.iter().map(|agent| &agent.name));
    Err(Failure::failed("not_found", format!("there is no agent \"{name}\"")).hint(format!("the team is: {team}")))
}

fn table(turns: &[api::Turn], output: Output) {
    let row = |turn: &api::Turn| {
        let used = turn.usage.map_or_else(String::new, |usage| {
            format!("read {}, wrote {}", usage.prompt_tokens, usage.completion_tokens)
        });
        let state = match (turn.answered, turn.failed) {
            (_, true) => "failed",
            (true, false) => "answered",
            (false, false) => "open",
        };
        let place = turn.run.as_ref().zip(turn.turn_of_run);
        let place = place.map_or_else(String::new, |(run, number)| format!("turn {number} of {run}"));
        vec![
            turn.turn.to_string(),
            turn.agent.to_string(),
            turn.thread.as_ref().map(ToString::to_string).unwrap_or_default(),
            turn.model.clone().unwrap_or_default(),
            turn.tokens.to_string(),
            used,
            state.to_owned(),
            place,
        ]
    };
    let head = ["TURN", "AGENT", "THREAD", "MODEL", "TOKENS", "USAGE", "STATE", "RUN"];
    output.list(&head, turns.iter().map(row), "turns");
}
