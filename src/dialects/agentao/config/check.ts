import { resolve } from 'node:path';
import { findMissingScript } from '../../../files/missing-script.ts';
import { isObject } from '../../../json/json.ts';
import type { Finding } from '../../../yaml/finding.ts';
import { nonEmptyTextAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { EntryCheckInput } from '../../dialect-config.ts';
import { findMatcherFaults } from '../matcher.ts';

/** Checks an Agentao rule beyond the schema: command or prompt, matcher, script. */
export function checkEntry(check: EntryCheckInput): Finding[] {
  return [...checkForm(check), ...checkMatcher(check), ...checkScript(check)];
}

function checkForm({ document, path }: EntryCheckInput): Finding[] {
  const command = [...path, 'command'];
  const prompt = [...path, 'agentao', 'prompt'];
  const event = textAt(document, [...path, 'agentao', 'event']);
  const [hasCommand, hasPrompt] = [command, prompt].map((each) => valueAt(document, each) !== undefined);
  if (!hasCommand && !hasPrompt) {
    const hint = 'A rule has a `command`, or `agentao.prompt` at UserPromptSubmit.';
    return [{ severity: 'error', path: command, message: 'is required', hint, atKey: true }];
  }
  if (hasCommand && hasPrompt) {
    const message = 'has no place beside agentao.prompt';
    return [{ severity: 'error', path: command, message, atKey: true }];
  }
  if (!hasPrompt || event === undefined || event === 'UserPromptSubmit') return [];
  const message = `is only for UserPromptSubmit (event: ${event})`;
  return [{ severity: 'error', path: prompt, message, hint: 'Use a `command` instead.' }];
}

function checkMatcher({ document, path }: EntryCheckInput): Finding[] {
  const at = [...path, 'agentao', 'matcher'];
  const event = textAt(document, [...path, 'agentao', 'event']);
  const matcher = valueAt(document, at);
  if (event === undefined || !isObject(matcher)) return [];
  return findMatcherFaults(event, matcher).map((finding) => ({ ...finding, path: at }));
}

function checkScript({ document, path, folder, searchPath }: EntryCheckInput): Finding[] {
  const at = [...path, 'command'];
  const command = nonEmptyTextAt(document, at);
  if (command === undefined) return [];
  const cwd = resolve(folder, nonEmptyTextAt(document, [...path, 'cwd']) ?? '.');
  const message = findMissingScript({ command, cwd, folder, searchPath });
  return message === undefined ? [] : [{ severity: 'warning', path: at, message, about: 'program' }];
}
