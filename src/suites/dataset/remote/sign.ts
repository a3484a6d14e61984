import { type HostEnv, hostEnv } from '../../../process/env.ts';
import { parseS3 } from './address.ts';

/** A GET as it is sent. */
export interface RemoteRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The request for an object of a bucket, with the names of variables that AWS's own programs have: `AWS_REGION` or
 * `AWS_DEFAULT_REGION`, `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, and unless the bucket is public `AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Source: https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
 */
export async function signS3(
  path: string,
  headers: Readonly<Record<string, string>>,
  env: HostEnv = hostEnv(),
): Promise<RemoteRequest> {
  const { bucket = '', key = '' } = parseS3(path) ?? {};
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1';
  const endpoint = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
  const url = new URL(`${baseOf(bucket, region, endpoint)}/${key.split('/').map(encodePart).join('/')}`);
  const [accessKeyId, secretAccessKey] = [env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY']];
  if (!accessKeyId || !secretAccessKey) return { url, headers };
  const { AwsV4Signer } = await import('aws4fetch');
  const signer = new AwsV4Signer({
    ...{ url: url.href, headers: { ...headers }, accessKeyId, secretAccessKey, region, service: 's3' },
    ...(env['AWS_SESSION_TOKEN'] && { sessionToken: env['AWS_SESSION_TOKEN'] }),
  });
  const signed = await signer.sign();
  return { url: signed.url, headers: Object.fromEntries(signed.headers) };
}

/** A bucket is part of the host's name at AWS, where a certificate is for such a name, and of the path elsewhere. */
function baseOf(bucket: string, region: string, endpoint: string | undefined): string {
  if (endpoint !== undefined && endpoint !== '')
    return `${endpoint.replace(/\/+$/, '')}/${encodePart(bucket)}`;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const canBeHost = /^[a-z0-9][a-z0-9-]*$/.test(bucket);
  return canBeHost ? `https://${bucket}.${host}` : `https://${host}/${encodePart(bucket)}`;
}

/** As S3 has it: all but letters, digits, `-`, `.`, `_` and `~`. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
