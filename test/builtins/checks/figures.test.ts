import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EvalContext } from '../../../src/contract/eval.ts';
import { type Asking, ask, scoreOf } from './asking.ts';
import { ifevalCases } from './ifeval-cases.ts';
import { referenceCases } from './reference-cases.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/internals/check-figures.md'), 'utf8');

test('the checks give the reference values of the table', async () => {
  const rules = Object.entries(ifevalCases).map(([type, rows]) => ({
    type,
    source: 'IFEval',
    rows: rows.map(([content, params, score]) => ({ asking: { content, params: { ...params } }, score })),
  }));
  const lines: string[] = [];
  for (const { type, source, rows } of [...referenceCases, ...rules]) {
    let agree = 0;
    for (const { asking, score } of rows) {
      const given = await scoreOf(type, asking);
      if (typeof given === 'number' && Math.abs(given - score) < 0.000_05) agree += 1;
    }
    lines.push(`| \`${type}\` | ${source} | ${rows.length} | ${agree} |`);
  }
  const table = ['| check | values of | values | the same |', '| --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
  expect(page).toContain(table);
});

const transcripts = join(import.meta.dirname, '../../../../shared/data/tau/airline.dev.jsonl');

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

interface Transcript {
  readonly reward: number;
  readonly messages: readonly Message[];
}

const asked: readonly (readonly [type: string, params: NonNullable<Asking['params']>])[] = [
  ['tools_called', { tools: ['get_reservation_details'] }],
  ['tools_not_called', { tools: ['transfer_to_human_agents'] }],
  ['tool_call_count', { max: 5 }],
  ['tool_no_repeat', {}],
  ['no_tool_errors', {}],
  ['tool_anti_pattern', { patterns: [{ sequence: ['transfer_to_human_agents', 'book_reservation'] }] }],
  ['refusal', {}],
  ['language', { language: 'en' }],
  ['language:response_language', { language: 'en' }],
  ['length_constraints:number_words', { num_words: 100, relation: 'less than' }],
  ['length_constraints:number_sentences', { num_sentences: 4, relation: 'less than' }],
  ['punctuation:no_comma', {}],
  ['keywords:forbidden_words', { forbidden_words: ['guarantee', 'promise'] }],
  ['detectable_format:number_highlighted_sections', { num_highlights: 1 }],
  ['detectable_content:number_placeholders', { num_placeholders: 1 }],
];

test.skipIf(!existsSync(transcripts))(
  'the table of real transcripts is what the checks give; without shared/data/tau beside the project this is skipped',
  async () => {
    const rows = readFileSync(transcripts, 'utf8')
      .trim()
      .split('\n')
      .map((line): Transcript => JSON.parse(line));
    const lines: string[] = [];
    for (const [type, params] of asked) {
      const scores: number[] = [];
      const byReward: number[][] = [[], []];
      for (const row of rows) {
        const outcome = await ask(type, { ...toAsking(row), params });
        if (outcome.status === 'unscored') continue;
        scores.push(outcome.score);
        byReward[row.reward]?.push(outcome.score);
      }
      const [lost = [], won = []] = byReward;
      lines.push(
        `| \`${type}\` \`${JSON.stringify(params)}\` | ${scores.length} | ${mean(scores)} | ${mean(won)} | ${mean(lost)} |`,
      );
    }
    const heads = [
      '| check | scored | mean | solved (49) | not solved (51) |',
      '| --- | --- | --- | --- | --- |',
    ];
    expect(page).toContain([...heads, ...lines].join('\n'));
  },
);

function mean(scores: readonly number[]): string {
  return (scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length)).toFixed(3);
}

function toAsking({ messages }: Transcript): Asking {
  const results = new Map(messages.map(({ tool_call_id, content }) => [tool_call_id, content ?? '']));
  const tool_calls: EvalContext['tool_calls'] = messages.flatMap(({ tool_calls: calls = [] }, index) =>
    calls.map(({ id, function: { name, arguments: args } }) => {
      const result = results.get(id) ?? '';
      const error = result.startsWith('Error') ? result : '';
      return { name, args: JSON.parse(args), result, error, index };
    }),
  );
  const answers = messages.filter(({ role, content }) => role === 'assistant' && content);
  return { content: answers.at(-1)?.content ?? '', context: { tool_calls } };
}
