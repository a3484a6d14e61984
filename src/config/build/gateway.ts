import { resolve } from 'node:path';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import {
  choiceAt,
  entriesAt,
  integerAt,
  itemsAt,
  millisecondsAt,
  nonEmptyTextAt,
  valueAt,
} from '../../base/yaml/read.ts';
import type { ProviderConfig } from '../config.ts';
import { parseDuration } from '../duration.ts';
import type { GatewayAuditConfig, GatewayConfig, GatewayLimits, GatewayModelConfig } from '../gateway.ts';
import { type ListenAddress, parseListen } from '../listen.ts';
import { passableHeaders } from '../schema/gateway.ts';

const at = (...keys: readonly string[]): Path => ['spec', 'gateway', ...keys];

/** The gateway that a checked document declares; `folder` is absolute. */
export function readGateway(
  document: YamlDocument,
  folder: string,
  providers: readonly ProviderConfig[],
): GatewayConfig {
  const required = valueAt(document, at('keys', 'required'));
  return {
    listen: parseListen(nonEmptyTextAt(document, at('listen')) ?? '') ?? usualAddress,
    models: readModels(document, providers),
    hooks: new Map(entriesAt(document, at('hooks')).map(({ name, path }) => [name, textsAt(document, path)])),
    onDeny: choiceAt(document, at('on_deny'), ['error', 'answer']) ?? 'error',
    stream: choiceAt(document, at('stream'), ['hold', 'windowed']) ?? 'hold',
    window: integerAt(document, at('window')) ?? 200,
    judge: new Map(
      entriesAt(document, at('judge')).map(({ name, path }) => [
        name,
        choiceAt(document, path, ['all', 'new']) ?? 'all',
      ]),
    ),
    opaque: textsAt(document, at('opaque')),
    references: textsAt(document, at('references')),
    redactsEmbeddings: isTrueAt(document, at('embeddings', 'redact')),
    tools: {
      hooks: isTrueAt(document, at('tools', 'hooks')),
      pending: choiceAt(document, at('tools', 'pending'), ['hold', 'refuse']) ?? 'refuse',
      holdMs: millisecondsAt(document, at('tools', 'hold_ms')) ?? 120_000,
    },
    passThrough: passableHeaders.filter((name) => textsAt(document, at('pass_through')).includes(name)),
    forwardHeaders: textsAt(document, at('forward_headers')).map((name) => name.toLowerCase()),
    limits: readLimits(document),
    requiresKeys: typeof required === 'boolean' ? required : undefined,
    audit: readAudit(document, folder),
    drainMs: millisecondsAt(document, at('drain_ms')) ?? 30_000,
  };
}

function readModels(
  document: YamlDocument,
  providers: readonly ProviderConfig[],
): readonly GatewayModelConfig[] | undefined {
  if (!isObject(valueAt(document, at('models')))) return undefined;
  return entriesAt(document, at('models')).map(({ name, path }) => {
    const provider = nonEmptyTextAt(document, [...path, 'provider']) ?? '';
    const own = providers.find(({ id }) => id === provider)?.model ?? name;
    return { name, provider, model: nonEmptyTextAt(document, [...path, 'model']) ?? own };
  });
}

function readLimits(document: YamlDocument): GatewayLimits {
  const limit = (key: string, usual: number) => integerAt(document, at('limits', key)) ?? usual;
  const time = (key: string, usual: number) => millisecondsAt(document, at('limits', key)) ?? usual;
  return {
    bodyBytes: limit('body_bytes', 32 * MiB),
    answerBytes: limit('answer_bytes', 64 * MiB),
    depth: limit('depth', 128),
    headersMs: time('headers_ms', 15_000),
    requestMs: time('request_ms', 60_000),
    upstreamMs: time('upstream_ms', 300_000),
    answerMs: time('answer_ms', 3_600_000),
    idleMs: time('idle_ms', 120_000),
    connections: limit('connections', 8192),
    heldBytes: limit('held_bytes', 16 * MiB),
    totalHeldBytes: limit('total_held_bytes', 512 * MiB),
  };
}

const usualAddress: ListenAddress = { host: '127.0.0.1', port: 8787 };

const MiB = 1024 * 1024;

function readAudit(document: YamlDocument, folder: string): GatewayAuditConfig | undefined {
  if (!isObject(valueAt(document, at('audit')))) return undefined;
  const durationAt = (path: Path) => parseDuration(nonEmptyTextAt(document, path) ?? '');
  const file = nonEmptyTextAt(document, at('audit', 'head', 'file'));
  const hasHead = isObject(valueAt(document, at('audit', 'head')));
  return {
    required: valueAt(document, at('audit', 'required')) !== false,
    content: isTrueAt(document, at('audit', 'content')),
    ...omitUndefined({ keyEnv: nonEmptyTextAt(document, at('audit', 'key_env')) }),
    keepMs: durationAt(at('audit', 'keep')) ?? 30 * 86_400_000,
    ...(hasHead && {
      head: {
        ...omitUndefined({ file: file === undefined ? undefined : resolve(folder, file) }),
        stdout: isTrueAt(document, at('audit', 'head', 'stdout')),
        everyMs: durationAt(at('audit', 'head', 'every')) ?? 60_000,
      },
    }),
  };
}

function textsAt(document: YamlDocument, path: Path): string[] {
  return itemsAt(document, path).flatMap((item) => nonEmptyTextAt(document, item) ?? []);
}

function isTrueAt(document: YamlDocument, path: Path): boolean {
  return valueAt(document, path) === true;
}
