import { answer } from '../../../builtins/guards/answer.ts';
import { createLinkRules } from '../../../builtins/guards/links/rules.ts';
import { readSettings } from '../../../builtins/guards/links/settings.ts';
import { type Invocation, runProgram } from '../../../builtins/guards/program/program.ts';
import { guardHost } from '../host.ts';
import { help } from './help.ts';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  return await runProgram({ name: 'signalbox-links', help, open }, invocation);
}

function open(argv: Invocation['argv'], env: Invocation['env']) {
  const rules = createLinkRules(readSettings(argv, guardHost(env)));
  return { answer: (payload: unknown) => answer(payload, rules) };
}
