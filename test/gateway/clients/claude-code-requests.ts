/**
 * Requests as Claude Code 2.1.330 sends them, seen on loopback, with other texts. Beside the SDK's headers it sends
 * `x-app` and `x-claude-code-session-id`.
 */
export const claudeCodeHeaders: Readonly<Record<string, string>> = {
  accept: 'application/json',
  'user-agent': 'claude-cli/2.1.330 (external, sdk-cli)',
  'x-claude-code-session-id': 'bb581c40-5683-441f-833b-0874441eb3c7',
  'x-stainless-lang': 'js',
  'x-stainless-package-version': '0.128.0',
  'x-stainless-retry-count': '0',
  'x-stainless-timeout': '600',
  'anthropic-beta':
    'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24',
  'anthropic-dangerous-direct-browser-access': 'true',
  'anthropic-version': '2023-06-01',
  'x-api-key': 'sk-ant-of-the-client',
  'x-app': 'cli',
};

const cached = { cache_control: { type: 'ephemeral' } };

function request(messages: readonly unknown[]) {
  return {
    model: 'claude-test',
    messages,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.330.572; cc_entrypoint=sdk-cli;' },
      { type: 'text', text: 'You are an agent.', ...cached },
      {
        type: 'text',
        text: '\nYou work with jane@example.com toward her goals.\n\n# Tone\nBrief.',
        ...cached,
      },
    ],
    tools: [
      { name: 'Agent', description: 'Starts an agent.', input_schema: { type: 'object' } },
      {
        name: 'Bash',
        description: 'Executes a command.\n\n- `cd` stays.',
        input_schema: { type: 'object', properties: { command: { type: 'string' } } },
      },
      { name: 'WebFetch', description: 'Fetches.', input_schema: { type: 'object' }, defer_loading: true },
    ],
    metadata: { user_id: '{"device_id":"e5a6","account_uuid":"","session_id":"bb581c40"}' },
    max_tokens: 32_000,
    thinking: { type: 'adaptive', display: 'omitted' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    stream: true,
  };
}

const asked = {
  role: 'user',
  content: [
    { type: 'text', text: '<system-reminder>\nMail goes to jane@example.com.\n</system-reminder>' },
    { type: 'text', text: 'Say hello to jane@example.com with bash' },
  ],
};
const environment = '# Environment\n - Shell: bash\n - User: jane@example.com';

/** A system message follows the user's message. */
export const firstTurn = request([
  asked,
  { role: 'system', content: [{ type: 'text', text: environment, ...cached }] },
]);

/** `type` is not the first member of the tool result. */
export const secondTurn = request([
  asked,
  { role: 'system', content: environment },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: '', signature: Buffer.from(Array(80).fill(0xfe)).toString('base64') },
      { type: 'text', text: 'Running.' },
      {
        type: 'tool_use',
        id: 'toolu_01A',
        name: 'Bash',
        input: { command: 'echo hello', description: 'Say' },
      },
    ],
  },
  {
    role: 'user',
    content: [
      { tool_use_id: 'toolu_01A', type: 'tool_result', content: 'hello', is_error: false, ...cached },
      { type: 'text', text: '<system-reminder>\nBe brief.\n</system-reminder>' },
    ],
  },
]);
