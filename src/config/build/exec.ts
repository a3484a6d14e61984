import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import {
  choiceAt,
  integerAt,
  itemsAt,
  millisecondsAt,
  nonEmptyTextAt,
  textAt,
  valueAt,
} from '../../base/yaml/read.ts';
import { dialectNames } from '../../dialects/registry.ts';
import type { ProcessLimits } from '../../process/process-config.ts';
import type { DefaultsConfig, ExecConfig } from '../config.ts';
import { execProperties } from '../schema/exec.ts';
import { piiVariables } from './pii.ts';

/** The process entry at `path`; `refused`: why it must never start; `timeoutMs`: its default timeout. */
export function readExec(
  document: YamlDocument,
  path: Path,
  { refused, timeoutMs }: { refused: string | undefined; timeoutMs?: number | undefined },
): ExecConfig {
  const pathOf = (key: string): Path => [...path, key];
  const warm = valueAt(document, pathOf('warm'));
  const limits = readLimits(document, path);
  const command = textAt(document, pathOf('command')) ?? '';
  const args = itemsAt(document, pathOf('args')).map((item) => textAt(document, item) ?? '');
  const env = itemsAt(document, pathOf('env')).flatMap((item) => readVariable(document, item));
  // Of two entries of one variable the entry's own counts.
  const own = new Set(env.map(nameOf));
  const variables = piiVariables(document, [command, ...args]).filter((entry) => !own.has(nameOf(entry)));
  return {
    command,
    args,
    runtime: choiceAt(document, pathOf('runtime'), ['server', 'fork']) ?? 'exec',
    env: [...variables, ...env],
    dialect: choiceAt(document, pathOf('dialect'), dialectNames) ?? 'promptkit',
    ...limits,
    ...omitUndefined({
      timeoutMs: limits.timeoutMs ?? timeoutMs,
      sandbox: nonEmptyTextAt(document, pathOf('sandbox')),
      cwd: nonEmptyTextAt(document, pathOf('cwd')),
      concurrency: integerAt(document, pathOf('concurrency')),
      instances: integerAt(document, pathOf('instances')),
      warm: typeof warm === 'boolean' ? warm : integerAt(document, pathOf('warm')),
      refused,
    }),
    position: document.positionOf(pathOf('command')),
  };
}

/** The name of a variable that an entry of `env` passes on or sets. */
function nameOf(entry: string): string {
  return entry.split('=', 1)[0] ?? '';
}

/** The limits that stand in the mapping at `path`. */
function readLimits(document: YamlDocument, path: Path): DefaultsConfig {
  return omitUndefined({
    timeoutMs: millisecondsAt(document, [...path, 'timeout_ms']),
    maxOutputBytes: integerAt(document, [...path, 'max_output_bytes']),
    graceMs: millisecondsAt(document, [...path, 'grace_ms'], 0),
    leftovers: choiceAt(document, [...path, 'leftovers'], ['kill', 'keep']),
    limits: readProcessLimits(document, [...path, 'limits']),
    nice: integerAt(document, [...path, 'nice'], 0),
  });
}

function readProcessLimits(document: YamlDocument, path: Path): ProcessLimits | undefined {
  const limits = omitUndefined({
    memoryMb: integerAt(document, [...path, 'memory_mb']),
    cpuSeconds: integerAt(document, [...path, 'cpu_seconds']),
    openFiles: integerAt(document, [...path, 'open_files']),
    processes: integerAt(document, [...path, 'processes']),
    fileSizeMb: integerAt(document, [...path, 'file_size_mb']),
  });
  return Object.keys(limits).length === 0 ? undefined : limits;
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
    ...omitUndefined({ onFailure: choiceAt(document, [...path, 'on_failure'], ['deny']) }),
  };
}
