import { COMMA, OPEN_BRACE, OPEN_BRACKET } from './ends.ts';
import { JsonTokens } from './tokens.ts';

/** The path of the first duplicate key at any depth, such as `user.name`. */
export function findDuplicateKey(text: string): string | undefined {
  const tokens = new JsonTokens(text);
  const open: Container[] = [];
  while (tokens.next()) {
    const { code, depth } = tokens;
    if (code === OPEN_BRACE) open[depth] = { keys: new Set(), label: '' };
    else if (code === OPEN_BRACKET) open[depth] = { keys: undefined, label: 0 };
    const inner = open[depth];
    if (inner === undefined) continue;
    if (code === COMMA && typeof inner.label === 'number') inner.label += 1;
    if (!tokens.isKey || inner.keys === undefined) continue;
    inner.label = tokens.name;
    const before = inner.keys.size;
    if (inner.keys.add(inner.label).size === before) return pathOf(open.slice(1, depth + 1));
  }
  return undefined;
}

interface Container {
  readonly keys: Set<string> | undefined;
  label: string | number;
}

function pathOf(open: readonly Container[]): string {
  return open
    .map(({ label }) => (typeof label === 'number' ? `[${label}]` : `.${label}`))
    .join('')
    .replace(/^\./, '');
}
