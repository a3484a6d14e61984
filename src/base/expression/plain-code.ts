/**
 * Recognizes simple valid CEL without the CEL package, which loads slowly: paths of these variables (`case.id`,
 * `messages[0].content`), `.size()`, whole numbers, sums and differences. Other code may be valid too.
 */
export function isPlainCode(code: string, variables: readonly string[]): boolean {
  if (code.length > MOST_CHARACTERS) return false;
  const tokens = code.match(tokenPattern) ?? [];
  if (withoutSpaces(tokens.join('')) !== withoutSpaces(code)) return false;
  return openReader(tokens, variables).isWhole();
}

function withoutSpaces(text: string): string {
  return text.replaceAll(' ', '');
}

const MOST_CHARACTERS = 200;

const tokenPattern = /[A-Za-z_]\w*|\d+|"[\w -]*"|'[\w -]*'|[.[\]()+-]/g;

function openReader(tokens: readonly string[], variables: readonly string[]) {
  let at = 0;
  const next = (isWanted: (token: string) => boolean): boolean => {
    const found = isWanted(tokens[at] ?? '');
    if (found) at += 1;
    return found;
  };
  const sign = (wanted: string) => next((token) => token === wanted);
  const sum = (): boolean => term() && (sign('+') || sign('-') ? sum() : true);
  const term = () => next((token) => wholeNumber.test(token)) || path();
  const path = () => next((token) => variables.includes(token) && !reserved.has(token)) && steps();
  const steps = (): boolean => {
    if (sign('[')) return (next((token) => text.test(token)) || sum()) && sign(']') && steps();
    if (!sign('.')) return true;
    const isSize = tokens[at] === 'size';
    if (!next((token) => name.test(token) && !reserved.has(token))) return false;
    return isSize && sign('(') ? sign(')') : steps();
  };
  return { isWhole: () => sum() && at === tokens.length };
}

const wholeNumber = /^(?:0|[1-9]\d{0,14})$/;
const text = /^["']/;
const name = /^[A-Za-z_]/;

const reserved = new Set(
  'as break const continue else false for function if import in let loop namespace null package prototype return true var void while __proto__'.split(
    ' ',
  ),
);
