/** The template as promptfoo gives it to Nunjucks: one with a tag that its line does not close is text. */
export function asPromptfooReads(template: string): string {
  const isRaw = /\{%\s*raw\s*%\}/.test(template) && /\{%\s*endraw\s*%\}/.test(template);
  return !isRaw && hasPartialTag(template) ? `{% raw %}${template}{% endraw %}` : template;
}

/** `/({%[^%]*$|{{[^}]*$|{#[^#]*$)/m`, in one pass. */
export function hasPartialTag(template: string): boolean {
  return isPartial(template, '{%', '%') || isPartial(template, '{{', '}') || isPartial(template, '{#', '#');
}

function isPartial(template: string, opener: string, closer: string): boolean {
  let close = 0;
  let line = 0;
  for (let open = template.indexOf(opener); open !== -1; open = template.indexOf(opener, open + 1)) {
    const from = open + opener.length;
    if (close < from) close = template.indexOf(closer, from);
    if (close === -1) return true;
    if (line < from) line = endOfLine(template, from);
    if (line < close) return true;
  }
  return false;
}

function endOfLine(template: string, from: number): number {
  const end = /[\n\r\u2028\u2029]/g;
  end.lastIndex = from;
  return end.exec(template)?.index ?? template.length;
}
