import { isObject } from '../base/json/json.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { execKeyPatterns, isAt, textAt, valueAt } from '../base/yaml/read.ts';
import type { Violation } from '../base/yaml/violation.ts';
import { foreignDialects, foreignNames } from '../dialects/registry.ts';
import { foreignAt } from './exec.ts';
import { isProcessKey } from './hook.ts';
import { nativeVersion, promptkitVersion } from './schema.ts';

interface WordedViolation extends Violation {
  /** It is an error for every apiVersion. */
  readonly isStrict: boolean;
}

/** Uses PromptKit's wording where it has one. */
export function wordViolation(document: YamlDocument, violation: Violation): WordedViolation {
  const strictViolation = (message: string, hint?: string): WordedViolation => ({
    ...withoutHint(violation),
    message,
    isStrict: true,
    ...(hint === undefined ? {} : { hint }),
  });
  const { path } = violation;
  if (isAt(path, 'apiVersion'))
    return strictViolation(
      violation.kind === 'missing' ? 'is missing' : `must be ${nativeVersion} or ${promptkitVersion}`,
      `Write \`apiVersion: ${nativeVersion}\`.`,
    );
  if (isAt(path, 'kind'))
    return strictViolation('must be RuntimeConfig', violation.hint ?? 'Write `kind: RuntimeConfig`.');
  if (violation.kind === 'key' && isAt(path, ...execKeyPatterns('batch'))) {
    return { ...violation, hint: 'Only an eval can receive several cases in one request.', isStrict: false };
  }
  const foreign = wordForeign(document, violation);
  if (foreign !== undefined) return { ...violation, ...foreign, isStrict: true };
  const required = isAbsent(document, violation)
    ? requiredWords.find(([pattern]) => isAt(path, pattern))
    : undefined;
  if (required) return strictViolation(required[1], requiredHint(required[1], path));
  if (isAt(path, 'spec.tools.*.exec.command') && isAbsent(document, violation)) {
    return { ...violation, message: 'exec command is required', isStrict: false };
  }
  if (violation.keyword === 'pattern' && isAt(path, ...execKeyPatterns('env.*'))) {
    const message = `must be a name or NAME=value (got: ${valueAt(document, path)})`;
    return { ...violation, message, isStrict: false };
  }
  if (violation.keyword === 'false schema' && isAt(path, ...execKeyPatterns('instances'))) {
    return strictViolation(
      'needs `runtime: server`',
      'A one-shot process does not stay: add `runtime: server` or remove the key.',
    );
  }
  if (violation.keyword === 'not' && isAt(path, ...execKeyPatterns('warm'))) {
    return valueAt(document, path) === true
      ? strictViolation(
          'needs `runtime: server`',
          'Add it, or write how many one-shot processes wait for their requests, such as `warm: 2`.',
        )
      : strictViolation(
          'must be true or false with this `runtime`',
          'true starts the process with the runtime; `instances` sets the number of processes of a server.',
        );
  }
  const endpoint = wordEndpoint(document, violation);
  if (endpoint !== undefined) return strictViolation(endpoint.message, endpoint.hint);
  if (isAt(path, 'spec.hooks.*.modifies')) {
    if (violation.keyword !== 'false schema') return { ...violation, isStrict: true };
    return strictViolation(
      'cannot be set on a hook that only observes',
      'Remove it: the answer of such a hook is not read.',
    );
  }
  if (isAt(path, 'spec.state_store.type') && textAt(document, path) === 'redis') {
    return { ...violation, message: 'redis is not supported', hint: redisHint, isStrict: false };
  }
  if (violation.keyword === 'pattern' && isAt(path, 'spec.providers.*.request_timeout', ...durationKeys)) {
    const message = `must be a duration such as 90s, 1m30s or 24h (got: ${valueAt(document, path)})`;
    return { ...violation, message, isStrict: isGuard(path) };
  }
  const isAddress = [
    'spec.gateway.listen',
    'spec.mcp.http',
    'spec.console.listen',
    'spec.telemetry.metrics.listen',
  ].some((place) => isAt(path, place));
  if (violation.keyword === 'pattern' && isAddress)
    return strictViolation(`${listenWords} (got: ${valueAt(document, path)})`);
  if (violation.keyword === 'pattern' && isAt(path, 'spec.tools.*.approval')) {
    const message = `must be required, or a mapping of when, message and expires (got: ${valueAt(document, path)})`;
    return { ...violation, message, isStrict: true };
  }
  return { ...violation, ...wordMode(document, violation), isStrict: isGuard(path) };
}

const requiredWords = [
  ['spec.providers.*.type', 'provider type is required'],
  ['spec.providers.*.model', 'provider model is required'],
  ['spec.evals.*.command', 'eval command is required'],
  ['spec.hooks.*.command', 'hook command is required'],
  ['spec.hooks.*.hook', 'hook type is required (provider, tool, session, or eval)'],
  ['spec.sandboxes.*.mode', 'sandbox mode is required'],
] as const;

function requiredHint(message: string, path: Violation['path']): string {
  return path.at(-1) === 'command'
    ? 'Add `command: ./PROGRAM`.'
    : `Add \`${path.at(-1)}: …\``.concat(
        message.includes('provider type') ? ', such as openai, anthropic or mock.' : '.',
      );
}

const redisHint = 'Use `type: sqlite`, which several processes on one machine may share.';
const listenWords = 'must be HOST:PORT, such as 127.0.0.1:8787 or [::1]:8787';
const durationKeys = [
  'spec.tools.*.approval.expires',
  'spec.approvals.*.expires',
  'spec.gateway.audit.keep',
  'spec.gateway.audit.head.every',
];

const unforgiving: ReadonlySet<string> = new Set([
  'gateway',
  'approvals',
  'agents',
  'mcp',
  'console',
  'telemetry',
]);

/** Violations of keys that guard a tool, select events, or belong to a gateway, approval, agents, mcp, console or telemetry are errors. */
function isGuard(path: Violation['path']): boolean {
  if (path[0] === 'spec' && unforgiving.has(String(path[1]))) return true;
  if (path[0] === 'spec' && path[1] === 'hooks' && path[3] === 'match') return true;
  return path[0] === 'spec' && path[1] === 'tools' && (path[3] === 'approval' || path[3] === 'idempotent');
}

function wordEndpoint(
  document: YamlDocument,
  { path, keyword }: Violation,
): { readonly message: string; readonly hint: string } | undefined {
  if (keyword !== 'false schema' || path[1] !== 'hooks' || path.length !== 4) return undefined;
  const key = String(path[3]);
  if (valueAt(document, [...path.slice(0, 3), 'url']) !== undefined && key !== 'url' && isProcessKey(key))
    return {
      message: 'cannot be combined with `url`',
      hint: 'A hook is a process (`command`) or an endpoint (`url`).',
    };
  const isEndpointKey = key === 'headers' || key === 'ca';
  return isEndpointKey
    ? { message: 'needs `url`', hint: 'Only a native hook with a `url` has this key.' }
    : undefined;
}

function isAbsent(document: YamlDocument, { kind, path }: Violation): boolean {
  const value = valueAt(document, path);
  return kind === 'missing' || value === null || value === '';
}

function withoutHint({ hint: _hint, ...violation }: Violation): Violation {
  return violation;
}

function wordMode(document: YamlDocument, { path }: Violation): { message?: string; hint?: string } {
  const value = valueAt(document, path);
  if (!isAt(path, 'spec.hooks.*.mode') || isObject(value) || (value !== 'filter' && value !== 'shadow'))
    return {};
  const hook = textAt(document, [...path.slice(0, -1), 'hook']);
  return {
    message: `${hook} hooks only observe: they receive events, and their answers are not read (got: ${value})`,
    hint: 'Use `mode: observe`, or leave `mode` out.',
  };
}

/** PromptKit has no foreign hooks or imports, so these violations are errors for every apiVersion. */
function wordForeign(
  document: YamlDocument,
  violation: Violation,
): { message?: string; hint?: string } | undefined {
  const { path } = violation;
  if (path[0] !== 'spec') return undefined;
  if (path[1] === 'imports') return wordImport(document, violation);
  if (path[1] === 'defaults' && path[2] === 'on_failure') return {};
  if (path[1] === 'tools')
    return isAt(path, 'spec.tools.*.category', 'spec.tools.*.aliases.*') ? {} : undefined;
  if (path[1] !== 'hooks') return undefined;
  return wordHook(document, violation);
}

interface Words {
  readonly message?: string;
  readonly hint?: string;
}

function wordImport(document: YamlDocument, { path, keyword }: Violation): Words {
  if (keyword !== 'false schema') return {};
  const key = String(path[3]);
  if (key !== 'file') {
    const owner = foreignNames.find((name) => key in (foreignDialects[name].entry.importProperties ?? {}));
    return { message: `needs \`dialect: ${owner}\`` };
  }
  const dialect = foreignAt(document, path.slice(0, 3));
  const folderKey = dialect && foreignDialects[dialect].plugins?.folderKey;
  return {
    message: `cannot be combined with \`dialect: ${dialect}\``,
    hint: `Name the folder of the plugins in \`${folderKey}\`.`,
  };
}

function wordHook(document: YamlDocument, violation: Violation): Words | undefined {
  const { path, keyword } = violation;
  const dialect = foreignAt(document, path.slice(0, 3));
  const key = String(path[3]);
  const isBlock = foreignNames.some(
    (name) => name === key && foreignDialects[name].entry.block !== undefined,
  );
  const isForbidden = path.length === 4 && keyword === 'false schema';
  if (isForbidden && isBlock) return { message: `needs \`dialect: ${key}\`` };
  if (dialect === undefined) return isBlock ? {} : undefined;
  const { misplacedHints, runtimeHint, valueMessages = {} } = foreignDialects[dialect].entry;
  const hint = misplacedHints[key];
  if (isForbidden && hint !== undefined)
    return { message: `cannot be combined with \`dialect: ${dialect}\``, hint };
  if (isAt(path, 'spec.hooks.*.runtime')) return { hint: runtimeHint };
  if (violation.kind === 'missing' && path.length === 4 && isBlock)
    return { hint: `Name the event: ${key}: {event: PreToolUse}.` };
  const worded = wordValue(document, path, valueMessages);
  if (worded !== undefined) return worded;
  // PromptKit's loader ignores unknown keys.
  return violation.kind === 'key' && path.length === 4 ? undefined : {};
}

function wordValue(
  document: YamlDocument,
  path: Path,
  messages: Readonly<Record<string, (value: string) => string | undefined>>,
): Words | undefined {
  const found = Object.entries(messages).find(([at]) => isAt(path, `spec.hooks.*.${at}`));
  const message = found?.[1](textAt(document, path) ?? '');
  return message === undefined ? undefined : { message };
}
