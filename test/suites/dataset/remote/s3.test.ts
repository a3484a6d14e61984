import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterEach, expect, test, vi } from 'vitest';
import { signS3 } from '../../../../src/suites/dataset/remote/remote-bytes.ts';
import { readPath } from '../support.ts';
import { type FileServer, openFileServer } from './file-server.ts';

afterEach(() => vi.unstubAllEnvs());

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

/** Accepts only requests signed as AWS's own code signs them. */
async function openBucket(text: string, region: string): Promise<FileServer> {
  const isRight = new Map<IncomingMessage, boolean>();
  const server = await openFileServer(text, (request) =>
    isRight.get(request) === false ? { status: 403 } : undefined,
  );
  server.before = async (request) => void isRight.set(request, await isSigned(request, region));
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.origin);
  vi.stubEnv('AWS_REGION', region);
  return server;
}

async function isSigned(request: IncomingMessage, region: string): Promise<boolean> {
  const authorization = request.headers.authorization ?? '';
  const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
  const date = String(request.headers['x-amz-date']).replace(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
    '$1-$2-$3T$4:$5:$6Z',
  );
  const signer = new SignatureV4({
    ...{ service: 's3', region, credentials: keys, sha256: NodeHash },
    ...{ uriEscapePath: false, applyChecksum: false },
  });
  const signed = await signer.sign(
    {
      ...{ method: 'GET', protocol: 'http:', hostname: '', path: request.url ?? '', query: {} },
      headers: Object.fromEntries(names.map((name) => [name, String(request.headers[name])])),
    },
    { signingDate: new Date(date) },
  );
  return signed.headers['authorization'] === authorization;
}

class NodeHash {
  readonly #hash: Hash | Hmac;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView) {
    this.#hash.update(toBytes(data));
  }
  digest() {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }
}

function toBytes(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}

test.each(['rows.jsonl', 'a b/ü+%41(1)!*.jsonl', "it's/what?#1.jsonl", 'a//b/…/c.jsonl'])(
  'an object of the key %s is read with a signature equal to that of AWS’s SDK',
  async (key) => {
    const server = await openBucket('{"n":0}\n', 'eu-central-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', keys.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', keys.secretAccessKey);
    const rows = await readPath(`s3://cases/${key}`);
    expect(rows).toMatchObject([{ number: 1, file: `s3://cases/${key}` }]);
    expect(decodeURIComponent(server.requests[0]?.url ?? '')).toBe(`/cases/${key}`);
    expect(server.requests.every(({ headers }) => headers['x-amz-security-token'] === undefined)).toBe(true);
  },
);

test('a wrong key is reported with the next step, and not shown', async () => {
  await openBucket('{"n":0}\n', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', keys.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong-secret');
  await expect(readPath('s3://cases/rows.jsonl')).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: 's3://cases/rows.jsonl cannot be read: access is denied (403)',
    details: {},
  });
});

test('a bucket in another region, and a pattern, are reported with the next step', async () => {
  const moved = await openFileServer('', () => ({
    status: 301,
    headers: { 'x-amz-bucket-region': 'eu-west-3' },
  }));
  vi.stubEnv('AWS_ENDPOINT_URL', moved.origin);
  await expect(readPath('s3://cases/rows.jsonl')).rejects.toMatchObject({
    message: 's3://cases/rows.jsonl is in another region (301)',
    hint: 'Set AWS_REGION=eu-west-3.',
  });
  const empty = await openFileServer('', () => ({ status: 404 }));
  vi.stubEnv('AWS_ENDPOINT_URL', empty.origin);
  await expect(readPath('s3://cases/*.jsonl')).rejects.toMatchObject({
    message: 's3://cases/*.jsonl does not exist (404)',
    hint: expect.stringContaining('Patterns'),
  });
});

test.each([
  [{}, 's3://cases/a/b.jsonl', 'https://cases.s3.us-east-1.amazonaws.com/a/b.jsonl'],
  [{ AWS_DEFAULT_REGION: 'eu-west-1' }, 's3://my.bucket/b', 'https://s3.eu-west-1.amazonaws.com/my.bucket/b'],
  [{ AWS_REGION: 'cn-north-1' }, 's3://cases/b', 'https://cases.s3.cn-north-1.amazonaws.com.cn/b'],
  [{ AWS_ENDPOINT_URL: 'http://minio:9000/' }, 's3://cases/b', 'http://minio:9000/cases/b'],
])('with %j, %s is requested at %s', async (env, path, url) => {
  const request = await signS3(path, { range: 'bytes=0-' }, env);
  expect([request.url.href, request.headers]).toEqual([url, { range: 'bytes=0-' }]);
});

test('a session token is sent with the signature', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c' };
  const { headers } = await signS3('s3://cases/b', {}, env);
  expect(headers['x-amz-security-token']).toBe('c');
  expect(headers['authorization']).toContain('x-amz-security-token');
});
