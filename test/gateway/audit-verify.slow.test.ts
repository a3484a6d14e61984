import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Head, readHead, readSigningKey } from '../../src/gateway/audit/keys.ts';
import { makeAuditFolder, openAudit, recordOf, writeCalls } from './audit-log.ts';
import {
  type Evidence,
  evidenceIn,
  rechain,
  resign,
  rowsOf,
  verifyAfter,
  verifyBytes,
} from './audit-tampering.ts';

const calls = 9;
const lastSeq = calls + 1;

let evidence: Evidence;
let heads: Head[];

beforeAll(async () => {
  const folder = makeAuditFolder();
  evidence = evidenceIn(await writeEvidence(folder));
  heads = headsIn(folder);
});

async function writeEvidence(folder: string): Promise<string> {
  const head = { file: join(folder, 'head.json'), everyMs: 60_000 };
  const log = await openAudit(folder, { keepsContent: true, head });
  for (let at = 1; at <= calls; at += 1) {
    const content = at % 2 === 0 ? undefined : { request: `question ${at} �`, answer: `answer ${at}` };
    const verdicts = [{ phase: 'after_call', verdict: 'deny', hook: 'pii', reason: `reason ${at}` }];
    await log.write(recordOf({ id: `call_${at}`, content, verdicts, isStream: at % 3 === 0 }));
  }
  await log.close();
  return folder;
}

function headsIn(folder: string): Head[] {
  const head = readHead(readFileSync(join(folder, 'head.json'), 'utf8'));
  return head === undefined ? [] : [head];
}

const none = () => {};

test('an unmodified audit verifies, with and without a head', async () => {
  const report = await verifyAfter(evidence, none, heads);
  expect(report).toMatchObject({ status: 'good', rows: lastSeq, first: 1, last: lastSeq, pruned: 0 });
  expect(report.heads).toEqual({ compared: 1, pruned: 0 });
  expect(await verifyAfter(evidence, none)).toMatchObject({ status: 'good', problems: [] });
});

describe('verification finds every change and names the row', () => {
  test('of any member of any row, at any depth', async () => {
    const rows = await readBodies();
    const paths = rows.flatMap(({ seq, body }) => pathsIn(JSON.parse(body)).map((path) => ({ seq, path })));
    expect(paths.length).toBeGreaterThan(200);
    for (const { seq, path } of paths) {
      const report = await verifyAfter(evidence, (database) => {
        const body = JSON.stringify(changedAt(JSON.parse(bodyOf(database, seq)), path));
        database.prepare('UPDATE rows SET body = ? WHERE seq = ?').run(body, seq);
      });
      expect(report.problems.map((problem) => problem.seq)).toContain(seq);
    }
  });

  test('of any byte of any body, hash or content', async () => {
    const kept = await readCells();
    const change = fc.record({
      cell: fc.constantFrom(...kept),
      at: fc.nat(),
      by: fc.integer({ min: 1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ cell, at, by }) => {
        const report = await verifyBytes(evidence, (bytes) => {
          const place = bytes.indexOf(cell.text) + (at % Buffer.byteLength(cell.text));
          bytes[place] = ((bytes[place] ?? 0) + by) % 256;
        });
        expect(report.problems.map((problem) => problem.seq)).toContain(cell.seq);
      }),
      { numRuns: 500 },
    );
  });

  test('of bytes that are decoded to the same text, with loss', async () => {
    const lossy = await verifyAfter(evidence, (database) => {
      const text = database.prepare('SELECT CAST(text AS BLOB) AS text FROM contents WHERE seq = 2').get()?.[
        'text'
      ];
      const bytes = Buffer.from(text instanceof Uint8Array ? text : []);
      const at = bytes.indexOf('�');
      const changed = Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 3)]);
      database.prepare('UPDATE contents SET text = CAST(? AS TEXT) WHERE seq = 2').run(changed);
    });
    expect(lossy.problems).toMatchObject([{ seq: 2, id: 'call_1' }]);
  });
});

describe('verification finds rows that were removed, inserted or moved', () => {
  const seqs = Array.from({ length: lastSeq }, (_, at) => at + 1);

  test.each(seqs)('row %i removed', async (seq) => {
    const report = await verifyAfter(evidence, (database) => {
      database.exec(`PRAGMA foreign_keys = ON; DELETE FROM rows WHERE seq = ${seq}`);
    });
    expect(report.status).toBe('tampered');
  });

  test.each(seqs)('row %i removed and later rows moved up', async (seq) => {
    const report = await verifyAfter(evidence, (database) => {
      database.exec(`DELETE FROM contents; DELETE FROM rows WHERE seq = ${seq}`);
      for (let at = seq + 1; at <= lastSeq; at += 1)
        database.exec(`UPDATE rows SET seq = ${at - 1} WHERE seq = ${at}`);
      database.exec(`UPDATE chain SET seq = ${lastSeq - 1}`);
    });
    expect(report.status).toBe('tampered');
  });

  test.each(seqs)('a copy of row %i inserted after it', async (seq) => {
    const report = await verifyAfter(evidence, (database) => {
      database.exec('DELETE FROM contents');
      for (let at = lastSeq; at > seq; at -= 1)
        database.exec(`UPDATE rows SET seq = ${at + 1} WHERE seq = ${at}`);
      database.exec(
        `INSERT INTO rows (seq, body, hash) SELECT seq + 1, body, hash FROM rows WHERE seq = ${seq}`,
      );
      database.exec(`UPDATE chain SET seq = ${lastSeq + 1}`);
    });
    expect(report.problems.map((problem) => problem.seq)).toContain(seq + 1);
  });

  test('any two rows swapped', async () => {
    for (const one of seqs) {
      for (const other of seqs.slice(one)) {
        const report = await verifyAfter(evidence, (database) => {
          database.exec(`DELETE FROM contents; UPDATE rows SET seq = -1 WHERE seq = ${one};
            UPDATE rows SET seq = ${one} WHERE seq = ${other}; UPDATE rows SET seq = ${other} WHERE seq = -1`);
        });
        const found = report.problems.map((problem) => problem.seq);
        expect(found).toEqual(expect.arrayContaining([one, other]));
      }
    }
  });

  test.each([0, -5, lastSeq + 1, 2 ** 53 + 2])('a row inserted at %i', async (seq) => {
    const report = await verifyAfter(evidence, (database) => {
      database.exec(
        `INSERT INTO rows (seq, body, hash) SELECT ${BigInt(seq)}, body, hash FROM rows WHERE seq = 2`,
      );
    });
    expect(report.status).toBe('tampered');
  });

  test('the last rows cut off, whatever was done to the head in the database', async () => {
    for (let cut = 1; cut <= lastSeq; cut += 1) {
      const report = await verifyAfter(evidence, (database) => {
        const bodies = rowsOf(database).map(({ body }) => body);
        rechain(database, bodies.slice(0, lastSeq - cut));
      });
      expect(report.status).toBe('tampered');
    }
    expect(await verifyAfter(evidence, (database) => database.exec('DELETE FROM rows'))).toMatchObject({
      status: 'tampered',
    });
    expect(
      await verifyAfter(evidence, (database) => database.exec('DELETE FROM rows; DELETE FROM chain')),
    ).toMatchObject({ status: 'tampered' });
  });

  test('a content added to a row that had none, removed, or without a row', async () => {
    const put = 'INSERT INTO contents (seq, text) VALUES (3, \'{"request": "", "answer": ""}\')';
    const stray = "PRAGMA foreign_keys = OFF; INSERT INTO contents (seq, text) VALUES (77, '')";
    for (const [statement, seq] of [
      [put, 3],
      ['DELETE FROM contents WHERE seq = 4', 4],
      [stray, 77],
    ] as const) {
      const report = await verifyAfter(evidence, (database) => database.exec(statement));
      expect(report.problems).toMatchObject([{ seq }]);
    }
  });
});

describe('verification finds an attacker who can write everything but lacks the key', () => {
  test('a row changed and all hashes made to fit', async () => {
    const report = await verifyAfter(evidence, (database) => {
      const bodies = rowsOf(database).map(({ body }) => body.replace('reason 4', 'reason 5'));
      rechain(database, bodies);
    });
    expect(report.problems.some(({ message }) => message.includes('not signed'))).toBe(true);
  });

  test('the same, signed with the attacker’s own key', async () => {
    const report = await verifyAfter(evidence, (database) => {
      rechain(
        database,
        rowsOf(database).map(({ body }) => body.replace('reason 4', 'reason 5')),
      );
      resign(database);
    });
    expect(report.problems.some(({ message }) => message.includes('not signed'))).toBe(true);
  });

  test.each(['seq = seq + 1', 'seq = seq - 1', "hash = 'x'", 'at = at + 1', "signature = ''", "id = 'x'"])(
    'the head in the database changed: %s',
    async (change) => {
      const report = await verifyAfter(evidence, (database) => database.exec(`UPDATE chain SET ${change}`));
      expect(report.status).toBe('tampered');
    },
  );

  test('rows that readers see differently from the kept ones', async () => {
    for (const statement of [
      'CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM contents; END',
      'ALTER TABLE rows RENAME TO kept; CREATE VIEW rows AS SELECT * FROM kept',
      'DROP INDEX rows_by_id',
      'CREATE TABLE other (a)',
    ]) {
      expect(await verifyAfter(evidence, (database) => database.exec(statement))).toMatchObject({
        status: 'tampered',
      });
    }
  });
});

describe('an attacker who has the key is found by a head that was kept elsewhere', () => {
  const key = () => readFileSync(join(evidence.folder, 'audit.key'), 'utf8');

  test.each([1, 2, 5])('%i rows cut off', async (cut) => {
    const cutOff = async (compared: readonly Head[]) =>
      await verifyAfter(
        evidence,
        (database) => {
          database.exec(`PRAGMA foreign_keys = ON`);
          const kept = rowsOf(database).slice(0, lastSeq - cut);
          database.exec(`DELETE FROM rows WHERE seq > ${lastSeq - cut}`);
          const last = kept.at(-1);
          database.prepare('UPDATE chain SET seq = ?, hash = ?').run(last?.seq ?? 0, last?.hash ?? '');
          resignWith(database, key());
        },
        compared,
      );
    expect(await cutOff([])).toMatchObject({ status: 'good' });
    expect(await cutOff(heads)).toMatchObject({ status: 'tampered', problems: [{ seq: lastSeq }] });
  });

  test('a row changed, all hashes made to fit and the head signed again', async () => {
    const change = (database: DatabaseSync) => {
      database.exec('DELETE FROM contents');
      rechain(
        database,
        rowsOf(database).map(({ body }) =>
          body.replace('reason 4', 'reason 5').replace(/"content":"\w+"/, '"content":null'),
        ),
      );
      resignWith(database, key());
    };
    expect(await verifyAfter(evidence, change)).toMatchObject({ status: 'good' });
    expect(await verifyAfter(evidence, change, heads)).toMatchObject({
      status: 'tampered',
      problems: [{ seq: lastSeq }],
    });
  });

  test('another audit in its place, signed with the same key', async () => {
    const other = makeAuditFolder();
    const log = await openAudit(other, { signingKey: key() });
    await writeCalls(log, 20);
    await log.close();
    const replaced = { folder: other, publicKey: evidence.publicKey };
    expect(await verifyAfter(replaced, none)).toMatchObject({ status: 'good' });
    const report = await verifyAfter(replaced, none, heads);
    expect(report.problems.some(({ message }) => message.includes('another audit'))).toBe(true);
  });

  test('a head that the attacker wrote is not accepted', async () => {
    const forged = heads.map((head) => ({ ...head, at: head.at + 1 }));
    expect(await verifyAfter(evidence, none, forged)).toMatchObject({ status: 'tampered' });
  });
});

function resignWith(database: DatabaseSync, pem: string): void {
  resign(database, readSigningKey(pem, 'the key'));
}

async function readBodies() {
  let rows: ReturnType<typeof rowsOf> = [];
  await verifyAfter(evidence, (database) => {
    rows = rowsOf(database);
  });
  return rows;
}

/** Every text of the audit that a hash or another row covers. */
async function readCells() {
  const cells = (await readBodies()).flatMap(({ seq, body, hash }) => [
    { seq, text: body },
    { seq, text: hash },
  ]);
  let contents: { seq: number; text: string }[] = [];
  await verifyAfter(evidence, (database) => {
    const rows = database.prepare('SELECT seq, text FROM contents').all();
    contents = rows.map(({ seq, text }) => ({ seq: Number(seq), text: String(text) }));
  });
  return [...cells, ...contents];
}

function bodyOf(database: DatabaseSync, seq: number): string {
  return String(database.prepare('SELECT body FROM rows WHERE seq = ?').get(seq)?.['body']);
}

type Path = readonly (string | number)[];

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

function changedAt(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return otherThan(value);
  const entries = Object.entries(Object(value)).map(([name, member]) => [
    name,
    name === String(key) ? changedAt(member, rest) : member,
  ]);
  const changed: unknown = Object.fromEntries(entries);
  return Array.isArray(value) ? Object.values(Object(changed)) : changed;
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return typeof value === 'string' ? `${value}x` : value === null ? 0 : null;
}
