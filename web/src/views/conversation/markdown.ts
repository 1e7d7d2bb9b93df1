/** Markdown of models as a part of the page. What they wrote as HTML is shown as the text it is. */

import DOMPurify from "dompurify";
import { Marked } from "marked";

const SIGNS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);

const markdown = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ raw }) => escaped(raw),
    // A picture would be fetched from elsewhere.
    image: ({ raw }) => escaped(raw),
    // The page's own headings say what is where; those in a message are only strong.
    heading({ tokens }) {
      return `<p><strong>${this.parser.parseInline(tokens)}</strong></p>`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

const ALLOWED = {
  ALLOWED_TAGS: [
    ..."p br strong em del code pre blockquote ul ol li hr a".split(" "),
    ..."table thead tbody tr th td".split(" "),
  ],
  ALLOWED_ATTR: ["href", "start"],
  ALLOWED_URI_REGEXP: /^(https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Quotes or lists within each other by the thousand are no Markdown that could be read: they stay as they are. */
export function htmlOf(text: string): string {
  try {
    return markdown.parse(text, { async: false });
  } catch {
    return `<pre>${escaped(text)}</pre>`;
  }
}

export function fromMarkdown(text: string): DocumentFragment {
  const made = DOMPurify.sanitize(htmlOf(text), ALLOWED);
  for (const link of made.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    link.title = link.href;
    link.className = "link";
  }
  // The messages are a list themselves, and lists within lists confuse readers of the page.
  for (const one of made.querySelectorAll("ul, ol, li")) one.setAttribute("role", "none");
  for (const block of made.querySelectorAll<HTMLElement>("p, li, td, th, blockquote")) block.dir = "auto";
  // A table that is wider than the page scrolls, so the keyboard must reach it.
  for (const wide of made.querySelectorAll<HTMLElement>("pre, table")) wide.tabIndex = 0;
  return made;
}
