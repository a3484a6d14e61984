import { resolve } from 'node:path';
import { findMissingScript } from '../../../files/missing-script.ts';
import type { Path } from '../../../yaml/document.ts';
import type { Finding } from '../../../yaml/finding.ts';
import { itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { EntryCheckInput } from '../../dialect-config.ts';
import { envLiteralOf, findUnfilledVariables } from '../../env-list.ts';
import { findConditionFault } from '../condition/rule.ts';
import { findMatcherFault } from '../matcher.ts';
import { claudeConditionEvents } from './events.ts';
import { fillPlaceholders } from './process.ts';

/** Checks a Claude Code handler beyond the schema: combinations of keys, matcher, `if`, script. */
export function checkEntry(check: EntryCheckInput): Finding[] {
  const { document, path } = check;
  const isHttp = textAt(document, [...path, 'claude', 'type']) === 'http';
  return [
    ...checkForm(check, isHttp),
    ...checkMatcher(check),
    ...checkCondition(check),
    ...(isHttp ? checkVariables(check) : checkScript(check)),
  ];
}

function checkForm({ document, path }: EntryCheckInput, isHttp: boolean): Finding[] {
  const has = (key: string) => valueAt(document, [...path, ...key.split('.')]) !== undefined;
  const reject = (key: string, message: string): Finding[] =>
    has(key) ? [{ severity: 'error', path: [...path, ...key.split('.')], message, atKey: true }] : [];
  const require = (key: string): Finding[] =>
    has(key)
      ? []
      : [{ severity: 'error', path: [...path, ...key.split('.')], message: 'is required', atKey: true }];
  if (isHttp) {
    const message = 'has no place in an http handler';
    return [
      ...require('claude.url'),
      ...['command', 'args', 'claude.shell'].flatMap((key) => reject(key, message)),
    ];
  }
  const message = 'needs `type: http`';
  const shell = has('args')
    ? reject('claude.shell', 'has no place beside `args`, where there is no shell')
    : [];
  const misplaced = ['claude.url', 'claude.headers', 'claude.allowedEnvVars'].flatMap((key) =>
    reject(key, message),
  );
  return [...require('command'), ...misplaced, ...shell];
}

function checkMatcher({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'claude', 'matcher'];
  const [event, matcher] = [textAt(document, [...path, 'claude', 'event']), textAt(document, at)];
  if (event === undefined || matcher === undefined) return [];
  return errorAt(at, findMatcherFault(event, matcher));
}

function checkCondition({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'claude', 'if'];
  const [event, rule] = [textAt(document, [...path, 'claude', 'event']) ?? '', nonEmptyTextAt(document, at)];
  if (rule === undefined) return [];
  const neverRuns: Finding = {
    severity: 'warning',
    path: at,
    message: `a handler with \`if\` never runs at ${event}`,
  };
  const findings = errorAt(at, findConditionFault(rule));
  return claudeConditionEvents.has(event) ? findings : [neverRuns, ...findings];
}

function errorAt(path: Path, message: string | undefined): Finding[] {
  return message === undefined ? [] : [{ severity: 'error', path, message }];
}

function checkVariables({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'claude', 'allowedEnvVars'];
  const texts = (list: Path) => itemsAt(document, list).flatMap((item) => textAt(document, item) ?? []);
  return findUnfilledVariables(texts(at), texts([...path, 'env'])).map((message) => ({
    severity: 'warning',
    path: at,
    message,
  }));
}

function checkScript({ document, path, folder, searchPath }: EntryCheckInput): Finding[] {
  const at = [...path, 'command'];
  const command = nonEmptyTextAt(document, at);
  if (command === undefined || textAt(document, [...path, 'claude', 'shell']) === 'powershell') return [];
  const isLine = !Array.isArray(valueAt(document, [...path, 'args']));
  if (isLine && /\$\{user_config\.[^}]*\}/.test(command)) {
    const hint = 'Write $CLAUDE_PLUGIN_OPTION_<KEY>, or use the exec form with `args`.';
    return [
      { severity: 'error', path: at, message: '${user_config.…} is not replaced in a shell line', hint },
    ];
  }
  const env = itemsAt(document, [...path, 'env']).flatMap((item) => textAt(document, item) ?? []);
  const folders = {
    projectDir: resolve(folder, envLiteralOf(env, 'CLAUDE_PROJECT_DIR') ?? '.'),
    ...rootOf(envLiteralOf(env, 'CLAUDE_PLUGIN_ROOT'), folder),
  };
  const fill = (text: string) => fillPlaceholders(text, folders, isLine);
  const args = itemsAt(document, [...path, 'args']).map((item) => fill(textAt(document, item) ?? ''));
  const message = findMissingScript({
    command: fill(command),
    ...(isLine ? {} : { args }),
    cwd: resolve(folder, nonEmptyTextAt(document, [...path, 'cwd']) ?? '.'),
    folder,
    searchPath,
  });
  return message === undefined
    ? []
    : [{ severity: 'error', path: at, message, hint: missingHint, about: 'program' }];
}

function rootOf(root: string | undefined, folder: string): { pluginRoot?: string } {
  return root === undefined ? {} : { pluginRoot: resolve(folder, root) };
}

const missingHint =
  'Without it the hook would block everything, or let everything pass. Relative paths start at `cwd`.';
