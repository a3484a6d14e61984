/** The place after the bracket that closes the one at `start`. */
export function endOfBrackets(content: string, start: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < content.length; at++) {
    const sign = content[at];
    if (sign === '"') isText = !isText;
    else if (isText) at += sign === '\\' ? 1 : 0;
    else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
