import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { header, loadText, write } from './validate-support.ts';

const page = readFileSync(new URL('../../docs/reference/pipelines.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = '']) => yaml);

const before = ['mood', 'answer'].map(
  (id) => `{id: ${id}, ${id === 'mood' ? 'tool: t' : 'chat: {provider: p, messages: m}'}}`,
);

function toFile(example: string): string {
  if (example.startsWith('apiVersion')) return example;
  const own = example.match(/id: \w+/g) ?? [];
  const given = before.filter((step) => !own.some((id) => step.startsWith(`{${id},`)));
  const steps = [...given.map((step) => `- ${step}`), ...example.trimEnd().split('\n')];
  return `${header}spec:\n  steps:\n${steps.map((line) => `    ${line}`).join('\n')}\n`;
}

write('refund.pipeline.yaml', `${header}spec: {steps: [{id: a, tool: t}]}\n`);

describe('docs/reference/pipelines.md', () => {
  test.each(examples.map((example) => [example.split('\n', 1)[0], example]))(
    '%s … loads',
    (_title, example) => {
      const { pipeline, problems } = loadText(toFile(example));
      const errors = problems.filter((problem) => !problem.includes(' warning: '));
      expect({ loads: pipeline !== undefined, errors }).toEqual({ loads: true, errors: [] });
    },
  );

  test('has an example of every kind of step', () => {
    expect(examples).toHaveLength(14);
  });
});
