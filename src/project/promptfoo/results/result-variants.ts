import { isObject } from '../../../json/json.ts';
import { slugOf } from '../providers/providers.ts';
import { pairName } from '../written/pairs.ts';
import type { NumberedResult } from './result-record.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The results of one pair of a prompt and a provider. */
export interface ResultVariant {
  /** As an import of the config names the variant. */
  readonly name: string;
  readonly results: readonly NumberedResult[];
}

/** The results by their pairs, in the order of the columns there, each result with the number of its case. */
export function variantsOf(rows: readonly Mapping[]): readonly ResultVariant[] {
  const byColumn = Map.groupBy(rows, keyOf);
  const columns = columnsOf(byColumn);
  const prompts = promptsOf(columns);
  const numbers = new Map(prompts.map((prompt, index) => [prompt, index]));
  const counts = {
    prompts: prompts.length,
    providers: new Set(columns.map(({ provider }) => provider)).size,
  };
  const found = new Map<string, NumberedResult[]>();
  for (const { key, provider, prompt, position } of columns) {
    const number = (numbers.get(prompt) ?? position) + 1;
    const name = pairName(slugOf(provider), { number }, counts);
    const known = found.get(name) ?? [];
    found.set(name, known);
    for (const value of byColumn.get(key) ?? []) {
      const { testIdx } = value;
      known.push({ number: typeof testIdx === 'number' ? testIdx + 1 : known.length + 1, value });
    }
  }
  return [...found].map(([name, results]) => ({ name, results }));
}

interface Column {
  readonly key: string;
  readonly provider: string;
  readonly prompt: string;
  /** Among the prompts of its provider, from 0. */
  readonly position: number;
}

function columnsOf(byColumn: ReadonlyMap<string, readonly Mapping[]>): readonly Column[] {
  const seen = new Map<string, number>();
  return [...byColumn].flatMap(([key, [row]]) => {
    if (row === undefined) return [];
    const provider = providerOf(row);
    const position = seen.get(provider) ?? 0;
    seen.set(provider, position + 1);
    return [{ key, provider, prompt: labelOf(row), position }];
  });
}

/** The labels of all prompts, in order; where one provider has two of one label, their positions. */
function promptsOf(columns: readonly Column[]): readonly string[] {
  const labels = [...new Set(columns.map(({ prompt }) => prompt))];
  const isClear =
    new Set(columns.map(({ provider, prompt }) => `${provider}\n${prompt}`)).size === columns.length;
  if (isClear) return labels;
  const most = columns.reduce((found, { position }) => Math.max(found, position), 0);
  return Array.from({ length: most + 1 }, (_, index) => `\n${index}`);
}

/** What tells columns apart: the provider, and the number of the column, or in older files what it displays. */
function keyOf(row: Mapping): string {
  const { promptIdx } = row;
  return `${providerOf(row)}\n${typeof promptIdx === 'number' ? promptIdx : labelOf(row)}`;
}

function providerOf({ provider }: Mapping): string {
  if (typeof provider === 'string') return provider;
  const { label, id } = isObject(provider) ? provider : {};
  return typeof label === 'string' && label !== '' ? label : typeof id === 'string' ? id : 'provider';
}

function labelOf({ prompt, promptIdx }: Mapping): string {
  const { label, display } = isObject(prompt) ? prompt : {};
  return String(label ?? display ?? promptIdx ?? '');
}
