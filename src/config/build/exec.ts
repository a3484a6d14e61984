import type { Path, YamlDocument } from '../../yaml/document.ts';
import { present } from '../../yaml/present.ts';
import { choiceAt, itemsAt, millisecondsAt, textAt, valueAt, wholeAt, wordAt } from '../../yaml/read.ts';
import type { DefaultsConfig, ExecConfig } from '../config.ts';
import { dialectNames, execProperties } from '../schema/exec.ts';

/** The process entry at `path`; `refused` says why it must never start, `timeoutMs` what holds without its own. */
export function readExec(
  document: YamlDocument,
  path: Path,
  { refused, timeoutMs }: { refused: string | undefined; timeoutMs?: number | undefined },
): ExecConfig {
  const at = (key: string): Path => [...path, key];
  const warm = valueAt(document, at('warm'));
  const limits = readLimits(document, path);
  return {
    command: textAt(document, at('command')) ?? '',
    args: itemsAt(document, at('args')).map((item) => textAt(document, item) ?? ''),
    runtime: choiceAt(document, at('runtime'), ['server']) ?? 'exec',
    env: itemsAt(document, at('env')).flatMap((item) => readVariable(document, item)),
    dialect: choiceAt(document, at('dialect'), dialectNames) ?? 'promptkit',
    ...limits,
    ...present({
      timeoutMs: limits.timeoutMs ?? timeoutMs,
      sandbox: wordAt(document, at('sandbox')),
      cwd: wordAt(document, at('cwd')),
      concurrency: wholeAt(document, at('concurrency')),
      instances: wholeAt(document, at('instances')),
      warm: typeof warm === 'boolean' ? warm : undefined,
      refused,
    }),
    position: document.positionOf(at('command')),
  };
}

/** The limits that stand in the mapping at `path`. */
export function readLimits(document: YamlDocument, path: Path): DefaultsConfig {
  return present({
    timeoutMs: millisecondsAt(document, [...path, 'timeout_ms']),
    maxOutputBytes: wholeAt(document, [...path, 'max_output_bytes']),
    graceMs: millisecondsAt(document, [...path, 'grace_ms'], 0),
    leftovers: choiceAt(document, [...path, 'leftovers'], ['kill', 'keep']),
  });
}

/** A text that is neither a name nor NAME=value is left out; `validate` has said so. */
function readVariable(document: YamlDocument, item: Path): string[] {
  const value = valueAt(document, item);
  if (typeof value === 'string' && !variablePattern.test(value)) return [];
  return [textAt(document, item)].filter((text) => text !== undefined);
}

const variablePattern = new RegExp(execProperties.env.items.pattern);

/** `spec.defaults`. */
export function readDefaults(document: YamlDocument): DefaultsConfig {
  const path = ['spec', 'defaults'];
  return {
    ...readLimits(document, path),
    ...present({ onFailure: choiceAt(document, [...path, 'on_failure'], ['deny']) }),
  };
}
