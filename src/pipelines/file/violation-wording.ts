import type { Violation } from '../../base/yaml/violation.ts';

/** Whether the check of an expression reports the same more precisely, as of a text in place of a mapping. */
export function isCoveredByOther({ keyword, path }: Violation): boolean {
  return keyword === 'pattern' && ['args', 'params', 'context'].includes(String(path.at(-1)));
}

/** The violation with a message in words for a pattern; other violations are unchanged. */
export function wordViolation(violation: Violation): Violation {
  if (violation.keyword !== 'pattern') return violation;
  const [section, place] = violation.path;
  const isName = section === 'spec' && (place === 'env' || place === 'vars');
  const worded = isName ? nameWords[place] : (words[String(violation.path.at(-1))] ?? expressionWords);
  return { ...violation, ...worded };
}

const expressionWords = { message: 'must be one `${…}` where it is written as a text' };

const nameWords = {
  env: {
    message: 'must be the name of an environment variable: letters, digits and `_`, no digit first',
    hint: 'Write names only; `vars` is for values.',
  },
  vars: {
    message: 'the name must be letters, digits and `_`, and not begin with a digit',
    hint: 'Expressions name the value as `vars.NAME`.',
  },
};

const words: Readonly<Record<string, { readonly message: string; readonly hint?: string }>> = {
  id: {
    message: 'must be letters, digits and `_`, and not begin with a digit',
    hint: 'Expressions name the step as `steps.ID`.',
  },
  tool_choice: { message: 'must be auto, none, required, or a mapping with `tool`' },
  backoff: {
    message: 'must be a duration such as 500ms, 2s or 1m, or a mapping of initial_ms, factor and max_ms',
  },
  expires: { message: 'must be a duration such as 30m, 24h or 7d' },
  wait: {
    message: 'must be a duration such as 30s, 10m or 36h, a `${…}` that gives one, or a mapping with `until`',
  },
  on_error: { message: 'must be stop, continue, or a mapping of steps and then' },
};
