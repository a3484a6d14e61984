import type { Source } from '../../../yaml/source.ts';
import { slugOf } from '../providers/providers.ts';
import { pairName } from '../written/pairs.ts';
import type { NumberedResult } from './result-record.ts';

/** The results of one pair of a prompt and a provider. */
export interface ResultVariant {
  /** As an import of the config names the variant. */
  readonly name: string;
  readonly results: readonly NumberedResult[];
}

/** The results by their pairs, in the order of the columns there, each result with the number of its case. */
export function variantsOf(rows: readonly Source[]): readonly ResultVariant[] {
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
    for (const row of byColumn.get(key) ?? [])
      known.push({ number: (row.at('testIdx').number() ?? known.length) + 1, row });
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

function columnsOf(byColumn: ReadonlyMap<string, readonly Source[]>): readonly Column[] {
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
function keyOf(row: Source): string {
  return `${providerOf(row)}\n${row.at('promptIdx').number() ?? labelOf(row)}`;
}

function providerOf(row: Source): string {
  const provider = row.at('provider');
  const [label, id] = [provider.at('label').text(), provider.at('id').text()];
  return provider.text() ?? (label || id) ?? 'provider';
}

function labelOf(row: Source): string {
  const prompt = row.at('prompt');
  const [label, display] = [prompt.at('label').scalar(), prompt.at('display').scalar()];
  return label ?? display ?? row.at('promptIdx').scalar() ?? '';
}
