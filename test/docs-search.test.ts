import { join } from 'node:path';
import MiniSearch, { type Options } from 'minisearch';
import { expect, test } from 'vitest';
import { sectionsIn } from '../build/site/pages.ts';

// The browser loads the same options: build/site/search.js.
await import('../build/site/search-options.js' as string);
const index = new MiniSearch((globalThis as unknown as { searchOptions: Options }).searchOptions);
index.addAll(sectionsIn(join(import.meta.dirname, '../docs')));

const questions = `
  how do I install it | start/install
  write a guard in python | start/first-guard
  run a suite for the first time | start/first-suite
  first pipeline | start/first-pipeline
  put the gateway in front of openai | start/gateway
  retry a failed run | guides/retry-runs
  redact personal data | guides/redact-personal-data
  block prompt injection | guides/use-ready-guards
  protect claude code | guides/guard-claude-code
  use my existing picoclaw hooks | guides/run-hooks-of-other-systems
  import promptfoo config | guides/move-from-promptfoo
  find regressions between two runs | guides/compare-runs
  compare two models | guides/compare-models
  test a real model with an api key | guides/test-a-real-model
  fail the build when scores drop | guides/gate-on-scores
  metrics of gates | reference/suites, guides/gate-on-scores
  junit report | guides/report-results
  github actions | guides/run-suites-in-ci
  vitest | guides/use-vitest
  human approval for a tool call | guides/ask-a-person
  send slack notification when a call waits | guides/notify-people
  limit cost of a suite | guides/limit-costs
  does my llm judge agree with humans | guides/check-a-judge
  load cases from csv | guides/load-cases
  keep a process running between calls | guides/keep-a-process-alive
  sandbox without network access | guides/sandbox-programs
  api keys with rate limits for the gateway | guides/limit-callers
  postgres state store | operate/state-postgres
  run on several machines | operate/workers, operate/suite-workers
  different secrets per environment | guides/configure-environments
  exit codes | reference/command-line
  what does REPLY_MALFORMED mean | reference/errors
  replay a recording without calling the model | guides/record-and-replay
  audit log | operate/gateway-audit
  it does not work | operate/troubleshooting
  how fast is it | operate/performance
  semantic similarity | guides/compare-meanings
`;

test.each(
  questions
    .trim()
    .split('\n')
    .map((row) => row.trim().split(' | ') as [string, string]),
)('a search of the documentation for "%s" finds %s first', (question, pages) => {
  const [first] = index.search(question);
  expect(pages.split(', ')).toContain(String(first?.id).split('.html')[0]);
});
