import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuntimeError } from '../../src/base/errors.ts';
import { noopScrubber } from '../../src/contract/scrub.ts';
import { type AuditLogOptions, openAuditLog } from '../../src/gateway/audit/audit-log.ts';
import type { AuditLog, AuditRecord } from '../../src/gateway/ports.ts';

export function makeAuditFolder(): string {
  return mkdtempSync(join(tmpdir(), 'audit-'));
}

export async function openAudit(place: string, options: Partial<AuditLogOptions> = {}): Promise<AuditLog> {
  return await openAuditLog({
    store: place.startsWith('postgres:')
      ? { type: 'postgres', urlEnv: 'URL', folder: '/nowhere' }
      : { type: 'sqlite', file: join(place, 'state.db') },
    env: { URL: place },
    isRequired: true,
    keepsContent: false,
    keepMs: undefined,
    head: undefined,
    signingKey: undefined,
    scrubber: noopScrubber,
    warn: (error: RuntimeError) => {
      throw error;
    },
    ...options,
  });
}

export function recordOf(members: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: 'call_1',
    at: Date.UTC(2026, 0, 2, 3, 4, 5),
    keyId: 'key_1',
    caller: 'support desk',
    endpoint: 'chat',
    model: 'gpt-5',
    asked: ['main'],
    provider: 'main',
    isStream: false,
    status: 200,
    outcome: 'allowed',
    verdicts: [{ phase: 'before_call', verdict: 'allow', hook: null, reason: '' }],
    requestDigest: 'a'.repeat(64),
    answerDigest: 'b'.repeat(64),
    usage: { input: 12, output: 34, cachedInput: 5 },
    cost: 0.0125,
    times: { total: 812.5, hooks: 3.25, upstream: 800 },
    ...members,
  };
}

export async function writeCalls(log: AuditLog, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, at) => log.write(recordOf({ id: `call_${at + 1}` }))));
}
