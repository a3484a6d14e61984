import { RuntimeError } from '../../../base/errors.ts';
import { formatNumber } from '../../../base/json/decimal.ts';
import { escapeInvisible } from '../../../base/text/escape-invisible.ts';
import type { EvalDocument } from '../../../contract/document.ts';
import type { Threshold } from '../../../contract/eval.ts';
import { command, group } from '../../command.ts';
import { exitCodeOfEval } from '../../exit-code.ts';
import { readNumber } from '../../input.ts';
import { codeText, nameText, type Terminal } from '../../terminal.ts';
import { diffCommand } from './diff.ts';
import { importCommand } from './import.ts';
import { agreementCommand, htmlCommand, listCommand, pruneCommand, rateCommand } from './kept.ts';
import { runCommand } from './run.ts';
import { showCommand } from './show.ts';
import { viewCommand } from './view.ts';

const callCommand = command('call <type>', {
  about: 'run one eval on one text',
  options: {
    '--content <text>': ['the text to judge, @FILE, or - for stdin', { isRequired: true }],
    '--params <json>': [
      'the parameters of the eval: a JSON object, @FILE, or - for stdin',
      { default: '{}' },
    ],
    '--context <json>':
      'messages, turn_index, tool_calls, variables, metadata: a JSON object, @FILE, or - for stdin',
    '--min-score <number>': 'the lowest score that passes (default: 1.0, unless --max-score is given)',
    '--max-score <number>': 'the highest score that passes',
  },
  examples: `
Examples:
  signalbox eval call politeness --content "I'd be happy to help you with that!"
  signalbox eval call grounded --content @answer.txt --params '{"facts": ["30 days"]}' --min-score 0.8 --json

Exit codes: 0 scored (and within the bounds, if any), 1 unscored or out of bounds,
2 wrong call or config, or a stdout that cannot be written.`,
  run: async ({ options, terminal, input, signal, open }, own, type) => {
    const threshold = readThreshold(own);
    const params = await input.object('--params', own.params);
    const context = own.context === undefined ? {} : await input.object('--context', own.context);
    const content = await input.text('--content', own.content);
    const runtime = await open();
    const document = await runtime.evals.call(type, { content, params, context }, { threshold, signal });
    const isBounded = Object.keys(threshold).length > 0;
    if (options.json) terminal.printJson(document);
    else showScore(document, { type, isBounded }, terminal);
    return exitCodeOfEval(document, isBounded);
  },
});

export const evalCommands = group('eval', {
  about: 'score answers, run suites, and compare runs',
  givesVerdict: true,
  examples: `
Examples:
  signalbox eval call politeness --content @answer.txt --min-score 0.8
  signalbox eval run support.suite.yaml
  signalbox eval diff main.jsonl last --fail-on-regression`,
  commands: [
    ...[callCommand, runCommand, diffCommand, listCommand, showCommand, htmlCommand, viewCommand],
    ...[rateCommand, agreementCommand, importCommand, pruneCommand],
  ],
});

function readThreshold(own: { readonly minScore?: string; readonly maxScore?: string }): Threshold {
  const min = readNumber('--min-score', own.minScore);
  const max = readNumber('--max-score', own.maxScore);
  for (const bound of [min, max]) {
    if (bound !== undefined && (bound < 0 || bound > 1))
      throw new RuntimeError('USAGE', `a score bound must be from 0 to 1, not ${bound}`);
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new RuntimeError('USAGE', `--min-score ${min} is above --max-score ${max}`);
  }
  return { ...(min !== undefined && { min_score: min }), ...(max !== undefined && { max_score: max }) };
}

function showScore(
  document: EvalDocument,
  { type, isBounded }: { readonly type: string; readonly isBounded: boolean },
  terminal: Terminal,
): void {
  if (document.status === 'unscored') {
    const { error, reason } = document;
    const name = error === undefined ? '' : nameText('eval', type, reason);
    terminal.print(
      `${terminal.styleStdout('red', 'unscored')}: ${codeText(error)}${name}${escapeInvisible(reason)}`,
    );
    terminal.printHint(error);
    return;
  }
  const { score, passed, detail } = document;
  const word = passed ? terminal.styleStdout('green', 'passed') : terminal.styleStdout('red', 'not passed');
  terminal.print(
    `${formatNumber(score, [0, 1])}${isBounded ? ` ${word}` : ''}${detail === '' ? '' : `: ${escapeInvisible(detail)}`}`,
  );
}
