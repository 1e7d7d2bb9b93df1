//! The data of prompts: which prompt is wanted, in what form, how its parts share the budget, and what was observed for it.
//! The crate `callboard-prompt` builds them.

pub mod escape;
mod layout;
pub mod look_alike;
pub mod observed;
mod part_name;
pub mod profile;
mod share;
mod spec;

use serde::{Deserialize, Serialize};

pub use self::{
    layout::{Layout, LayoutName, LayoutPart, LayoutText, Style},
    part_name::PartName,
    share::{Allowed, Amount, Shares},
    spec::PromptSpec,
};
use crate::id::words;

words! {
    /// The format of a prompt.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum Format {
        /// One text.
        #[default]
        Text = "text",
        /// The messages of an OpenAI chat completion.
        OpenAi = "openai",
        /// The instructions and the items of OpenAI's Responses API.
        Responses = "responses",
        /// The messages of Anthropic's Messages API, with what it takes as `system`. In it, `cache_control` marks up to four
        /// prefixes that a provider's cache should keep: the parts that are the same in every turn (with the tools, which
        /// stand before them), the context sets, what was said before the task, and the task where it stands in a thread as
        /// it is shown and no steps stand before it. The next prompt begins with the last of these that nothing has changed
        /// in: a turn that follows a call of a tool with all four.
        Anthropic = "anthropic",
    }
}
