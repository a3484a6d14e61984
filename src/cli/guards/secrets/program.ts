import { answer } from '../../../builtins/guards/answer.ts';
import { type Invocation, runProgram } from '../../../builtins/guards/program/program.ts';
import { createSecretRules } from '../../../builtins/guards/secrets/rules.ts';
import { readSettings } from '../../../builtins/guards/secrets/settings.ts';
import { guardHost } from '../host.ts';
import { help } from './help.ts';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  return await runProgram({ name: 'signalbox-secrets', help, open }, invocation);
}

function open(argv: Invocation['argv'], env: Invocation['env']) {
  const rules = createSecretRules(readSettings(argv, guardHost(env)));
  return { answer: (payload: unknown) => answer(payload, rules) };
}
