/** The index after the bracket that closes the one at `start`; undefined when none does. */
export function endOfBrackets(content: string, start: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < content.length; at++) {
    const character = content[at];
    if (character === '"') isText = !isText;
    else if (isText) at += character === '\\' ? 1 : 0;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
