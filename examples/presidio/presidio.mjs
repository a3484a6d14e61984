#!/usr/bin/env node
// A provider filter that redacts the personal data that a Presidio analyzer finds in the messages.
// PRESIDIO_URL       the URL of the analyzer, such as http://127.0.0.1:5002
// PRESIDIO_LANGUAGE  the language of the texts (default en)
// PRESIDIO_SCORE     findings below this score are ignored (default 0.5)
// PRESIDIO_TIMEOUT   the timeout of one analysis, in ms (default 5000)

const {
  PRESIDIO_URL,
  PRESIDIO_LANGUAGE = 'en',
  PRESIDIO_SCORE = '0.5',
  PRESIDIO_TIMEOUT = '5000',
} = process.env;
if (!PRESIDIO_URL) {
  console.error('PRESIDIO_URL is not set; list it under `env` of the hook, such as http://127.0.0.1:5002');
  process.exit(2);
}
const analyzeUrl = new URL('analyze', PRESIDIO_URL.replace(/\/*$/, '/'));

// readline would also split at U+2028, which JSON allows inside a string.
let rest = '';
process.stdin.setEncoding('utf8');
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  // Not awaited: while one text is analyzed, the next request may already be sent.
  for (const line of lines) answer(JSON.parse(line));
}

async function answer({ id, params }) {
  const reply = await filter(params).then(
    (result) => ({ jsonrpc: '2.0', id, result }),
    // An error denies the call, so nothing passes unchecked when the analyzer is unavailable.
    (error) => ({ jsonrpc: '2.0', id, error: { code: 1, message: explain(error) } }),
  );
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

async function filter({ phase, request, response }) {
  const found = {};
  if (phase === 'before_call') {
    const messages = await Promise.all(request.messages.map((message) => redactMessage(message, found)));
    const systemPrompt = await redact(request.system_prompt, found);
    return reply(found, { messages, system_prompt: systemPrompt });
  }
  if (phase === 'after_call') return reply(found, { message: await redactMessage(response.message, found) });
  throw new Error(`this filter does not know the phase ${phase}`);
}

function reply(found, replace) {
  if (Object.keys(found).length === 0) return { allow: true, metadata: { pii: found } };
  return { allow: true, replace, metadata: { pii: found } };
}

/** `parts` may repeat the content; the runtime applies the changes to them. */
async function redactMessage(message, found) {
  const clean = { ...message, content: await redact(message.content, found) };
  if (message.reasoning) clean.reasoning = await redact(message.reasoning, found);
  if (message.tool_calls) {
    clean.tool_calls = await Promise.all(
      message.tool_calls.map(async (call) => ({ ...call, args: await redactTree(call.args, found) })),
    );
  }
  return clean;
}

async function redactTree(value, found) {
  if (typeof value === 'string') return redact(value, found);
  if (Array.isArray(value)) return Promise.all(value.map((item) => redactTree(item, found)));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(async ([key, item]) => [key, await redactTree(item, found)]);
  return Object.fromEntries(await Promise.all(members));
}

async function redact(text, found) {
  if (!text?.trim()) return text;
  const findings = await analyze(text);
  // Presidio counts code points, JavaScript UTF-16 units.
  const characters = [...text];
  let clean = '';
  let from = 0;
  for (const { entity_type: type, start, end } of findings) {
    if (end <= from) continue;
    // Of overlapping findings, the later one continues after the earlier one, so both are removed whole.
    clean += `${characters.slice(from, Math.max(from, start)).join('')}[${type}]`;
    from = end;
    found[type] = (found[type] ?? 0) + 1;
  }
  return clean + characters.slice(from).join('');
}

/** Returns the findings sorted by start; of those with the same start, the longest comes first. */
async function analyze(text) {
  const response = await fetch(analyzeUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, language: PRESIDIO_LANGUAGE, score_threshold: Number(PRESIDIO_SCORE) }),
    signal: AbortSignal.timeout(Number(PRESIDIO_TIMEOUT)),
  });
  if (!response.ok) throw new Error(`Presidio answered ${response.status}`);
  const findings = await response.json().catch(() => undefined);
  if (!Array.isArray(findings) || !findings.every((finding) => isFinding(finding, [...text].length))) {
    throw new Error('Presidio answered with something that is no list of findings');
  }
  return findings.toSorted((one, other) => one.start - other.start || other.end - one.end);
}

function isFinding({ entity_type: type, start, end }, length) {
  return typeof type === 'string' && Number.isInteger(start) && start >= 0 && start < end && end <= length;
}

/** The messages of fetch and of this program; neither quotes the text. */
function explain(error) {
  return `the analysis failed: ${error.cause?.code ?? error.message}`;
}
