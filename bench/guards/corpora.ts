import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';

const root = fileURLToPath(new URL('../../', import.meta.url));
const shared = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

/** Whether the third-party data sets are available. */
export const hasShared: boolean = existsSync(`${shared}injection/email.train.jsonl`);

/** Pages of documentation, one text each: READMEs of the packages that package-lock.json pins. */
export function readmes(): readonly string[] {
  const files = globSync(['node_modules/*/README.md', 'node_modules/@*/*/README.md'], { cwd: root });
  return files.toSorted().map((file) => readFileSync(`${root}${file}`, 'utf8'));
}

/** This project's own sources, one text each. */
export function sources(): readonly string[] {
  return globSync(['src/**/*.ts'], { cwd: root })
    .toSorted()
    .map((file) => readFileSync(`${root}${file}`, 'utf8'));
}

/** This project's own pages, one text each. */
export function pages(): readonly string[] {
  return globSync(['docs/**/*.md'], { cwd: root })
    .toSorted()
    .map((file) => readFileSync(`${root}${file}`, 'utf8'));
}

function linesOf(file: string): readonly Readonly<Record<string, unknown>>[] {
  return readFileSync(`${shared}${file}`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** 1,319 questions of arithmetic (openai/grade-school-math, MIT). */
export function questions(): readonly string[] {
  return linesOf('gsm8k/example_model_solutions.jsonl').map(({ question }) => String(question));
}

/** 1,000 short texts with made-up personal data (microsoft/presidio-research, MIT). */
export function sentences(): readonly string[] {
  return linesOf('pii/synth_dataset_v2.dev.jsonl').map(({ text }) => String(text));
}

/** Messages of customers, tools and agents of an airline (sierra-research/tau-bench, MIT). */
export function deskTexts(role: 'user' | 'tool' | 'assistant'): readonly string[] {
  const texts = linesOf('tau/airline.dev.jsonl').flatMap(({ messages }) =>
    Array.isArray(messages) ? messages.filter((message) => message.role === role) : [],
  );
  const contents = texts.flatMap(({ content }) =>
    typeof content === 'string' && content !== '' ? [content] : [],
  );
  return [...new Set(contents)];
}
/** 50 e-mails (microsoft/BIPIA, train split; MIT). */
export function emails(): readonly string[] {
  return linesOf('injection/email.train.jsonl').map(({ context }) => String(context));
}

/** Instructions to hide in the e-mails, by kind. */
export function hiddenInstructions(): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(readFileSync(`${shared}injection/text_attack.train.json`, 'utf8'));
}
