export type InjectionKind = 'OVERRIDE' | 'ROLE' | 'LEAK' | 'MARKUP';

/** Up to six words in between; bounded runs keep failed matches cheap. */
const gap = '(?:\\S{1,30} ){0,6}?';
const ignore =
  '(?:ignore|ignoring|disregard|disregarding|forget|forgetting|override|overriding|bypass|bypassing|discard|unlearn|pay no attention to|do not follow|dont follow|do not obey|stop following|stop obeying|no longer follow|no longer bound by|not bound by)';
const before =
  '(?:previous|previously|prior|preceding|earlier|above|foregoing|former|initial|original|existing|old|past|system|your|all|any|every|these|those|the)';
const orders =
  '(?:instructions?|instruct?ions?|directions?|directives?|prompts?|guidelines?|rules?|commands?|orders?|polic(?:y|ies)|constraints?|restrictions?|limitations?|programming|training|safeguards|filters|guardrails|safety protocols?|content policy)';
const secret =
  '(?:system prompt|system message|initial prompt|hidden prompt|secret prompt|original prompt|developer message|system instructions?|initial instructions?|original instructions?|hidden instructions?|secret instructions?|confidential instructions?|your instructions|your prompt|your rules|your guidelines|your configuration|pre ?prompt)';
const show =
  '(?:reveal|show|print|repeat|output|display|disclose|leak|expose|give|tell|share|recite|dump|write out|copy|echo|translate|summari[sz]e|reproduce|return|spell out|encode|state|list|what (?:is|are|was|were))';

const english: readonly (readonly [InjectionKind, string])[] = [
  ['OVERRIDE', `${ignore} ${gap}${before} ${gap}${orders}`],
  [
    'OVERRIDE',
    '(?:ignore|disregard|forget) (?:everything|all|anything|whatever|what) (?:\\S{1,30} ){0,3}?(?:above|before|said|told|wrote|written|previously|prior|so far|earlier)',
  ],
  [
    'OVERRIDE',
    '(?:forget|ignore|disregard) (?:everything|all of it|all of that)(?: (?:you|that) (?:know|were told|have learned|learned|have been told)| and )',
  ],
  [
    'OVERRIDE',
    '(?:new|updated|real|actual|revised|true|following) (?:system )?(?:instructions?|task|objective|directive|orders) (?:is|are|from|for you|follow|begin|supersede|override|replace)',
  ],
  [
    'OVERRIDE',
    '(?:your|the) (?:new|only|real|actual|true) (?:task|goal|job|purpose|objective|instruction|mission) (?:is|now)',
  ],
  [
    'OVERRIDE',
    '(?:instructions?|prompts?|rules?|guidelines?|messages?) (?:above|before this|so far) (?:are|is|were|was) (?:now )?(?:void|invalid|obsolete|cancel+ed|wrong|outdated|a test|only a test|fake|superseded|revoked|null)',
  ],
  [
    'OVERRIDE',
    '(?:end|start|begin) of (?:the )?(?:system prompt|system message|prompt|instructions|user input|document) (?:\\S{1,30} ){0,4}?(?:new|now|instruction|ignore|system|admin)',
  ],
  [
    'OVERRIDE',
    '(?:instead of|rather than) (?:summari[sz]ing|translating|answering|following|doing) (?:\\S{1,30} ){0,6}?(?:say|print|output|write|respond|send|reply|do)',
  ],
  [
    'OVERRIDE',
    '(?:attention|note to|message to|message for|instructions? for|important for|dear|hey|hello) (?:the |all |any |this )?(?:ai|llm|language model|chatbot|assistant|ai assistant|ai model|agent|bot|claude|chatgpt|gpt|gemini|copilot)s? (?:\\S{1,30} ){0,8}?(?:must|please|should|ignore|send|forward|do not|you|when|reading|execute|call|delete|transfer)',
  ],
  [
    'OVERRIDE',
    '(?:if you are|as) an? (?:ai|llm|large language model|language model|automated) (?:\\S{1,30} ){0,10}?(?:you must|ignore|please include|include the|recommend|respond with|say|output)',
  ],
  [
    'OVERRIDE',
    '(?:do not|dont|never|without) (?:tell|inform|mention|notify|alert|telling|informing|mentioning|notifying|alerting|reveal|show) (?:\\S{1,30} ){0,3}?(?:the |to the )?(?:user|human|person|operator)',
  ],
  [
    'OVERRIDE',
    '\\S{0,40}?(?:(?:ignore|disregard|forget|bypass|override)\\S{0,24}?(?:instruction|prompt|guideline|contentpolicy|rulesabove)|(?:reveal|print|show|repeat)\\S{0,16}?(?:systemprompt|instructions|everythingabove)|youarenowdan|doanythingnow|developermode|withoutrestrictions)',
  ],
  [
    'ROLE',
    '(?:you are|you re|youre|act as|be|become|pretend to be|simulate|roleplay as|role play as|play) (?:now |going to |to act as |being )?(?:\\S{1,30} ){0,4}?(?:dan|stan|dude|aim|do anything now|evil ?bot|unrestricted|unfiltered|uncensored|jailbroken|amoral|unethical|lawless|freed|godmode|god mode|developer mode|an evil)',
  ],
  [
    'ROLE',
    '(?:do anything now|jailbreak mode|jailbroken mode|dan mode|god ?mode enabled|developer mode (?:enabled|on|activated|output|v2)|enable (?:developer|dan|god|debug|admin|sudo|jailbreak) mode|enter (?:developer|dan|god|debug|maintenance|admin|jailbreak) mode|you are (?:now )?in (?:developer|debug|maintenance|admin|god|dan|test|training) mode|(?:activate|switch to|switch into) (?:developer|dan|god|debug|jailbreak|unrestricted) mode)',
  ],
  [
    'ROLE',
    '(?:with|without|have|has|having|had|are|were|free of|free from|no) (?:any |no |all |of )?(?:ethical|moral|content|safety|legal|openai|anthropic|google)? ?(?:restrictions|filters|censorship|guardrails|safeguards|moral compass|ethical guidelines|content policy|content policies|limitations) (?:\\S{1,30} ){0,12}?(?:answer|respond|reply|comply|say|generate|write|never refuse|can do|whatsoever|at all|tell|explain)',
  ],
  [
    'ROLE',
    '(?:pretend|imagine|assume|suppose|hypothetically) (?:\\S{1,30} ){0,8}?(?:no|without|free of|free from|not bound by|dont have|do not have|does not have|ignores?) (?:any |all )?(?:\\S{1,30} ){0,2}?(?:restrictions|rules|filters|limits|limitations|guidelines|guardrails|ethics|morals|laws|censorship|safeguards)',
  ],
  [
    'ROLE',
    '(?:never|not|cannot|can not|cant|must not|don ?t) (?:refuse|decline|reject|say no|say you cant|say you cannot|break character|say i cant|apologi[sz]e|warn|include warnings|add disclaimers|moralize|lecture)(?: \\S{1,30}){0,6}? (?:request|requests|question|questions|order|orders|anything|me|task|prompt|character|user|matter|ever|topic|it is)',
  ],
  [
    'ROLE',
    '(?:stay|remain|staying) in character (?:\\S{1,30} ){0,8}?(?:no matter|always|even if|dan|at all times|never)|i will (?:say|type|use) (?:\\S{1,30} ){0,3}?(?:stay in character|jailbreak)|tokens? (?:\\S{1,30} ){0,8}?(?:deducted|lose \\d+ tokens|run out of tokens)',
  ],
  [
    'ROLE',
    '(?:two|2|both) (?:responses|answers|outputs|ways|paragraphs) (?:\\S{1,30} ){0,20}?(?:normal|classic|standard|gpt|chatgpt|clear) (?:\\S{1,30} ){0,20}?(?:jailbreak|dan|unfiltered|unrestricted|developer)',
  ],
  [
    'ROLE',
    '(?:openai|anthropic|google|your (?:developers?|creators?)|the (?:developer|administrator|admin)) (?:has |have |hereby )?(?:authori[sz]ed|allowed|permitted|unlocked|disabled|lifted|removed|granted) (?:\\S{1,30} ){0,8}?(?:restrictions|filters?|safety|access|override|request|polic)',
  ],
  ['LEAK', `${show} ${gap}${secret}`],
  [
    'LEAK',
    `${show} (?:me )?(?:\\S{1,30} ){0,4}?(?:everything|all (?:the )?(?:text|words|content)|the (?:text|words|content|conversation|paragraph|sentence)) (?:above|before this|prior to this|up to this|preceding)`,
  ],
  [
    'LEAK',
    '(?:what|which|how) (?:\\S{1,30} ){0,4}?(?:were you|are you|you were|have you been) (?:told|instructed|given|prompted|programmed|configured) (?:to|not to|by|in|with|before|at|earlier)',
  ],
  [
    'LEAK',
    '(?:repeat|print|output|write|copy) (?:\\S{1,30} ){0,6}?(?:verbatim|word for word|in a code block|in a code fence) (?:\\S{1,30} ){0,8}?(?:above|prompt|instructions|you are|system|from the beginning|from the start)',
  ],
  [
    'LEAK',
    '(?:send|forward|email|post|upload|exfiltrate|transmit|submit|leak|append|encode) (?:\\S{1,30} ){0,6}?(?:conversation|chat history|chat log|user data|user s data|api keys?|passwords?|credentials|secrets?|private keys?|tokens?|environment variables|context window|personal data|inbox|contacts) (?:\\S{1,30} ){0,4}?(?:to|at|into|in the|via|through|by)',
  ],
];

const others: readonly (readonly [InjectionKind, string])[] = [
  [
    'OVERRIDE',
    '(?:ignoriere|ignorieren sie|ignorier|vergiss|vergessen sie|missachte|missachten sie|uberspringe|befolge nicht) (?:\\S{1,30} ){0,6}?(?:anweisung(?:en)?|vorgaben|regeln|instruktionen|befehle|prompts?|richtlinien|aufgaben|davor|gesagt)',
  ],
  [
    'OVERRIDE',
    '(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|ne tiens pas compte|ne tenez pas compte|fais abstraction) (?:\\S{1,30} ){0,6}?(?:instructions?|consignes?|regles?|directives?|ordres|prompt|precedentes?)',
  ],
  [
    'OVERRIDE',
    '(?:ignora|ignore|ignorar|olvida|olvide|olvidate|descarta|descarte|omite|haz caso omiso|no sigas|desconsidere|esqueca|esquece) (?:\\S{1,30} ){0,6}?(?:instruc(?:ciones|coes|cion)|reglas|regras|ordenes|ordens|indicaciones|anteriores|directrices|diretrizes|prompt)',
  ],
  [
    'OVERRIDE',
    '(?:ignora|ignorate|ignori|dimentica|dimenticate|trascura|non seguire) (?:\\S{1,30} ){0,6}?(?:istruzioni|regole|ordini|indicazioni|precedenti|direttive|prompt)',
  ],
  [
    'OVERRIDE',
    '(?:negeer|vergeet|sla) (?:\\S{1,30} ){0,6}?(?:instructies|regels|opdrachten|aanwijzingen|vorige|voorgaande)',
  ],
  [
    'OVERRIDE',
    '(?:zignoruj|ignoruj|zapomnij|pomin|nie stosuj) (?:\\S{1,30} ){0,6}?(?:instrukcj\\S{0,4}|polece\\S{0,4}|zasad\\S{0,3}|regul\\S{0,4}|wytyczn\\S{0,4})',
  ],
  [
    'OVERRIDE',
    '(?:игнорируи\\S{0,4}|проигнорируи\\S{0,4}|забудь\\S{0,3}|отбрось\\S{0,3}|не следуи\\S{0,4}) (?:\\S{1,30} ){0,6}?(?:инструкци\\S{0,4}|указани\\S{0,4}|правил\\S{0,4}|команд\\S{0,4}|предыдущ\\S{0,5}|промпт\\S{0,3})',
  ],
  [
    'OVERRIDE',
    '(?:ігноруи\\S{0,4}|проігноруи\\S{0,4}|забудь\\S{0,3}) (?:\\S{1,30} ){0,6}?(?:інструкці\\S{0,4}|вказівк\\S{0,4}|правил\\S{0,4}|попередн\\S{0,4})',
  ],
  [
    'OVERRIDE',
    '(?:onceki|yukaridaki|tum|butun) (?:\\S{1,30} ){0,5}?(?:talimat\\S{0,8}|kural\\S{0,8}|yonerge\\S{0,8}|komut\\S{0,8}) (?:\\S{1,30} ){0,3}?(?:unut|yok say|gormezden gel|dikkate alma|goz ardi et)',
  ],
  [
    'OVERRIDE',
    '(?:ignorera|glom|strunta i|ignorer|glem|unohda|ohita) (?:\\S{1,30} ){0,6}?(?:instruktion\\S{0,5}|anvisning\\S{0,5}|regler\\S{0,3}|instruks\\S{0,6}|ohjee\\S{0,5}|tidigare|tidligere|aiemmat)',
  ],
  [
    'OVERRIDE',
    '(?:bo qua|quen|abaikan|lupakan) (?:\\S{1,30} ){0,6}?(?:huong dan|chi dan|lenh|quy tac|instruksi|perintah|aturan|petunjuk)',
  ],
  [
    'OVERRIDE',
    '(?:تجاهل|تجاهلي|انس|انسى|اهمل) (?:\\S{1,30} ){0,6}?(?:التعليمات|تعليمات|الاوامر|القواعد|التوجيهات|السابقة)',
  ],
  ['OVERRIDE', '(?:התעלם|התעלמי|שכח) (?:\\S{1,30} ){0,6}?(?:מההוראות|ההוראות|הוראות|הכללים|הקודמות)'],
  [
    'OVERRIDE',
    '(?:निर्देश\\S{0,4}|नियम\\S{0,4}|आदेश\\S{0,4}) (?:\\S{1,30} ){0,3}?(?:अनदेखा|नज़रअंदाज|नजरअंदाज|भूल|उपेक्षा)',
  ],
  [
    'OVERRIDE',
    '(?:忽略|无视|無視|忘记|忘記|忘掉|不要遵守|不要理会|跳过)[^\\n]{0,16}(?:指令|指示|提示|规则|規則|命令|要求|设定|設定|内容|說明|说明)',
  ],
  ['OVERRIDE', '(?:指示|命令|ルール|プロンプト|指令|規則)[^\\n]{0,12}(?:無視|忘れ|従わ)'],
  ['OVERRIDE', '(?:지시|지침|명령|규칙|프롬프트)[^\\n]{0,16}(?:무시|잊어|잊고|따르지)'],
  [
    'LEAK',
    '(?:zeig\\S{0,3}|verrate|nenne|wiederhole|gib|muestra\\S{0,3}|revela\\S{0,3}|repite|montre\\S{0,3}|revele\\S{0,3}|repete\\S{0,3}|affiche\\S{0,3}|mostra\\S{0,3}|rivela\\S{0,3}|mostre|покажи\\S{0,3}|раскрои\\S{0,3}|повтори\\S{0,3}) (?:\\S{1,30} ){0,6}?(?:system ?prompt|systemprompt|systemanweisung\\S{0,3}|prompt del sistema|prompt (?:de )?systeme|invite systeme|prompt di sistema|prompt do sistema|instrucciones (?:iniciales|del sistema)|instructions (?:initiales|systeme)|системн\\S{0,4} (?:промпт|подсказк\\S{0,3}|инструкци\\S{0,4}))',
  ],
  [
    'LEAK',
    '(?:显示|顯示|告诉我|告訴我|输出|輸出|重复|重複|泄露|透露|表示して|教えて|見せて|출력|보여|알려)[^\\n]{0,16}(?:系统提示|系統提示|システムプロンプト|系统指令|시스템 프롬프트)|(?:システムプロンプト|시스템 프롬프트|系统提示)[^\\n]{0,12}(?:表示|教え|見せ|出力|출력|보여|알려|输出|告诉)',
  ],
];

const markup = [
  '<\\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text)\\|>',
  '\\[/?inst\\]',
  '<</?sys>>',
  '</?(?:system|system_prompt|system-prompt|system_instructions?|admin_instructions?|important_instructions?|information_to_follow)>',
  '(?:^|\\n)[ \\t]{0,4}(?:#{1,6} ?|\\*{2}|\\[)?(?:system|system message|system prompt|system override|admin override|developer)(?:\\]|\\*{2})?[ \\t]{0,2}:[ \\t]{0,4}\\**[ \\t]{0,2}(?:you|ignore|new|from now|your|the assistant|forget|override|disregard|all)',
  '(?:^|\\n)[ \\t]{0,4}(?:human|user)[ \\t]{0,2}:[^\\n]{0,300}\\n+[ \\t]{0,4}(?:assistant|ai)[ \\t]{0,2}:[^\\n]{0,300}\\n+[ \\t]{0,4}(?:human|user)[ \\t]{0,2}:',
  // Exactly three hyphens, because a run of any length would be retried from each position.
  '-{3} ?(?:end|begin|start) of (?:system|prompt|instructions|user|context)',
];

const withoutAccents = (pattern: string) =>
  pattern
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
const compile = (pattern: string) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${withoutAccents(pattern)})`, 'u');
const onWords: readonly (readonly [InjectionKind, RegExp])[] = [...english, ...others].map(
  ([kind, pattern]) => [kind, compile(pattern)],
);
const unspaced: readonly (readonly [InjectionKind, RegExp])[] = others
  .filter(([, pattern]) => /\p{Lo}/u.test(pattern) && pattern.includes('[^\\n]'))
  .map(([kind, pattern]) => [kind, new RegExp(withoutAccents(pattern), 'u')]);
const onMarkup = new RegExp(markup.join('|'), 'u');

export function matchPatterns(plain: { readonly text: string; readonly words: string }): InjectionKind[] {
  const kinds = new Set<InjectionKind>();
  for (const [kind, pattern] of onWords) if (!kinds.has(kind) && pattern.test(plain.words)) kinds.add(kind);
  if (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(plain.words)) {
    for (const [kind, pattern] of unspaced) if (pattern.test(plain.words)) kinds.add(kind);
  }
  if (onMarkup.test(plain.text)) kinds.add('MARKUP');
  return [...kinds];
}
