import { resolve } from 'node:path';
import type { Path, YamlDocument } from '../../../yaml/document.ts';
import { omitUndefined } from '../../../yaml/present.ts';
import { entriesAt, integerAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { EntryContext, EntryReading } from '../../dialect-config.ts';
import { envLiteralOf } from '../../env-list.ts';
import type { ProcessConfig } from '../../process-config.ts';
import { claudeStopCap } from './limits.ts';
import { pluginDataOf } from './process.ts';
import type { ClaudeHttp, ClaudeSettings } from './settings.ts';

/** The Claude Code handler that an entry of `spec.hooks` declares. */
export function readEntry(
  document: YamlDocument,
  path: Path,
  context: EntryContext,
): EntryReading<ClaudeSettings> {
  const { exec } = context;
  const block = [...path, 'claude'];
  const isHttp = textAt(document, [...block, 'type']) === 'http';
  const settings: ClaudeSettings = {
    event: textAt(document, [...block, 'event']) ?? '',
    isAsync: valueAt(document, [...block, 'async']) === true,
    ...omitUndefined({
      matcher: textAt(document, [...block, 'matcher']),
      condition: nonEmptyTextAt(document, [...block, 'if']),
      http: isHttp ? readHttp(document, block, exec) : undefined,
      shell: isHttp ? undefined : readShell(document, path),
    }),
    stopCap: integerAt(document, [...block, 'stop_cap'], 0) ?? claudeStopCap,
    ...readFolders(exec.env, context),
  };
  return { ...(isHttp ? {} : { exec }), settings };
}

/** The shell that reads the line; undefined in the exec form, which any `args` make. */
function readShell(document: YamlDocument, path: Path): ClaudeSettings['shell'] {
  if (Array.isArray(valueAt(document, [...path, 'args']))) return undefined;
  const named = textAt(document, [...path, 'claude', 'shell']);
  return named === 'bash' || named === 'powershell' ? named : 'sh';
}

function readHttp(document: YamlDocument, block: Path, exec: ProcessConfig): ClaudeHttp {
  const headers = entriesAt(document, [...block, 'headers']);
  return {
    url: textAt(document, [...block, 'url']) ?? '',
    headers: Object.fromEntries(headers.map(({ name, path }) => [name, textAt(document, path) ?? ''])),
    allowedEnvVars: itemsAt(document, [...block, 'allowedEnvVars']).flatMap(
      (item) => textAt(document, item) ?? [],
    ),
    env: exec.env,
    ...omitUndefined({ timeoutMs: exec.timeoutMs, maxOutputBytes: exec.maxOutputBytes }),
  };
}

/** The folders of a handler, from literals in `env`; relative ones start at the folder of the config file. */
function readFolders(env: readonly string[], { folder, stateFolder }: EntryContext) {
  const projectDir = resolve(folder, envLiteralOf(env, 'CLAUDE_PROJECT_DIR') ?? '.');
  const root = envLiteralOf(env, 'CLAUDE_PLUGIN_ROOT');
  if (root === undefined) return { projectDir };
  const pluginRoot = resolve(folder, root);
  const data = envLiteralOf(env, 'CLAUDE_PLUGIN_DATA');
  const pluginData = data === undefined ? pluginDataOf(stateFolder, pluginRoot) : resolve(folder, data);
  return { projectDir, pluginRoot, pluginData };
}
