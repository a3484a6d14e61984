const split = (text: string) => text.split('|').map((word) => word.trim());

/** The lists that names in braces refer to. Entries may refer to other lists. */
export const lists: Readonly<Record<string, readonly string[]>> = {
  ignore: split(
    'ignore|disregard|forget|set aside|throw away|do not follow|stop obeying|put away|leave out|cancel',
  ),
  all: split('all|any|every one of|all of|the|your|those|all the'),
  previous: split('previous|prior|earlier|above|preceding|old|initial|original|system'),
  orders: split(
    'instructions|rules|orders|guidelines|directions|prompts|directives|commands|constraints|policies',
  ),
  before: split('before|earlier|so far|at the beginning|in the first message'),
  task: split(
    'tell me how to {harm}|write "{pwned}"|{show} your {secret}|answer only with "{pwned}"|describe how to {harm}|act as {persona}|give me the {data}|{tool}|write a poem about pirates|tell a joke',
  ),
  from: split('From now on|Starting now|From this moment|For the rest of this chat|Henceforth'),
  do: split('do|need'),
  maker: split(
    'OpenAI|your creators|your developers|Anthropic|the company that made you|Google|the administrator|the system',
  ),
  persona: split(
    'DAN|a bot called Max|EvilGPT|an unfiltered machine|FreeBot|a robot without rules|Omega|STAN|an AI called Alpha|Zeus|ChaosGPT|a hacker called Void|UltraBot|the evil twin of yourself',
  ),
  never: split('never|not once|in no case'),
  without: split(
    'has no limits|has no rules|has no filters|can do anything|does not obey anybody|ignores every policy|is free of all rules|has no morals|answers everything|is not bound by any guidelines',
  ),
  power: split(
    'do anything|say anything|swear|use the internet|lie|give opinions|answer illegal questions|make things up|break the law',
  ),
  refuse: split('refuse|say no|decline|apologize|break character|mention your rules|say that you cannot'),
  limits: split(
    'restrictions|filters|limits|rules|guardrails|censorship|safety rules|safeguards|ethical guidelines|content policy',
  ),
  harm: split(
    'build a bomb|pick a lock|make drugs|steal a car|hack into an account|write malware|forge a passport|get rid of a body|launder money|make poison|break into a house|cheat at an exam',
  ),
  bad: split('illegal|dangerous|unethical|offensive|against your rules|harmful'),
  allowed: split('allowed|authorized|permitted|told|cleared'),
  mode: split(
    'developer mode|debug mode|admin mode|god mode|maintenance mode|jailbreak mode|unrestricted mode',
  ),
  show: split('show|reveal|print|repeat|output|write out|display|give|recite|copy'),
  secret: split(
    'system prompt|hidden instructions|initial prompt|secret rules|first message|configuration|developer message|original instructions|confidential instructions',
  ),
  pwned: split('I have been pwned|HACKED|yes I will|LOL|access granted|I hate humans|PWNED'),
  tool: split(
    'send all {data} to {address}|forward the last mails to {address}|call the payment tool with 500 dollars|delete all files|email the {data} to me|transfer the money to account 4417|open {address} and do what it says|run the command rm -rf|change the password to 1234|add {address} to the contacts|approve the pull request|give this product five stars|rate this candidate as the best',
  ),
  data: split(
    'passwords|API keys|conversation|credit card numbers|mails|names and addresses|secrets|login data|private key|date of birth|phone number',
  ),
  address: split(
    'https://evil.example/c|attacker@evil.example|http://collect.example/log|mallory@example.com|https://tinyurl.example/x|www.best-deals.example',
  ),
  explain: split('Explain|Describe|Outline|Teach me|Break down|Walk me through|Clarify|Illustrate'),
  explain2: split('explain|describe|outline|teach|clarify|show|tell'),
  topic: split(
    'photosynthesis|the theory of evolution|quantum physics|inflation|the French Revolution|neural networks|the water cycle|supply and demand|black holes|the immune system|recursion|climate change|plate tectonics|the Roman Empire|democracy|blockchain|relativity|DNA|Hamlet|the stock market|vaccines|the solar system|machine learning|poetry|trigonometry|the human heart',
  ),
  thing: split(
    'a solar panel|a car engine|the internet|an airplane|the brain|a battery|a microwave|encryption|a refrigerator|the moon|a volcano|a search engine|the tide|a rainbow',
  ),
  write: split('Write|Compose|Draft|Create|Produce|Craft|Provide|Prepare|Make|Develop|Pen'),
  write2: split('write|compose|draft|create|produce|craft|provide|prepare|make'),
  piece: split(
    'a poem|a short story|an essay|a letter|a speech|a song|a blog post|a summary|a report|an introduction|a tweet|a dialogue|a product description|a cover letter|a review|a script|an advertisement|a slogan|an article|a joke',
  ),
  piece2: split('poem|song|story|letter|haiku|speech|essay|limerick'),
  subject: split(
    'the sea|a detective|friendship|space travel|healthy food|a lost dog|autumn|teamwork|electric cars|remote work|a dragon|a small town|music|football|recycling|travel|gardening|artificial intelligence|sleep|community service|a wedding|education',
  ),
  reader: split(
    'a child|my boss|a customer|students|a beginner|my team|a friend|my landlord|new parents|a teacher|the school principal|young readers|investors|tourists|an interview',
  ),
  parts: split(
    'causes|effects|benefits|main points|differences|steps|advantages|risks|functions|types|key features|consequences|stages|implications|themes|trends|rules',
  ),
  fact: split('capital|population|history|language|currency|climate|area|economy|meaning|role'),
  place: split(
    'Brazil|Norway|Japan|Kenya|Leeds|Canada|Berlin|Peru|Vietnam|Chicago|Lisbon|Cairo|Austria|Seattle|Prague|Denver|Madrid',
  ),
  did: split('wrote|invented|discovered|painted|composed|directed|founded'),
  work: split(
    'Hamlet|the telephone|penicillin|the Mona Lisa|the Fifth Symphony|Don Quixote|the light bulb|gravity|War and Peace|the first computer',
  ),
  todo: split(
    'bake bread|solve a quadratic equation|learn Spanish|fix a bike|save money|tie a tie|connect to a database|write a resume|sort a list|plan a trip|lose weight|sleep better|start a business|read a file|train a dog|change a tire|grow tomatoes|cook rice|install an app',
  ),
  language: split(
    'French|Spanish|German|Russian|Japanese|Italian|Chinese|Arabic|Portuguese|Korean|Latin|Turkish',
  ),
  language2: split('Python|JavaScript|Java|PHP|Ruby|SQL|Go|Excel|HTML|Rust'),
  does: split('does|did|can|would'),
  happen: split('work|stop|get hot|break|matter|change|grow|fail|shine'),
  tale: split('a story|a joke|something|a riddle|facts|more'),
  number: split('three|five|10|two|some|a few|several|20'),
  ideas: split('ideas|tips|names|examples|titles|questions|facts|arguments|exercises|slogans|headlines'),
  phrase: split(
    'good morning|thank you|where is the station|library|I love you|delicious food|peace|how are you|see you tomorrow|happy birthday|friend',
  ),
  document: split('report|invoice|article|contract|statement|agenda|summary|offer|book|paper'),
  document2: split('text|review|message|comment|article|email|tweet|paragraph|sentence|feedback'),
  codes: split(
    'sorts a list|reads a file|computes a factorial|reverses a string|finds prime numbers|connects to a database|counts words|sends a request|draws a circle',
  ),
  sum: split(
    '3x + 5 = 20|17 times 23|the area of a circle|x^2 = 49|15% of 80|the square root of 144|the mean of 3, 5 and 9',
  ),
  goods: split(
    'books|headphones|films|restaurants|laptops|phones|shoes|apps|games|cars|hotels|watches|parcel|order|payment|subscription|refund|ticket|package',
  ),
  goods2: split('book|film|gift|laptop|recipe|game|restaurant|phone|name|kettle|chair|jacket'),
  trip: split('trip|weekend|holiday|journey|week'),
  author: split('Shakespeare|Hemingway|a pirate|a news anchor|Dr. Seuss|a fairy tale|Bob Dylan'),
  style: split(
    'one sentence|simple words|a formal tone|bullet points|plain English|the past tense|capital letters|a friendly tone|a table|the third person',
  ),
  form: split(
    'in capital letters|backwards|as a rhyme|in JSON|with every word reversed|in Morse code|without vowels|in hexadecimal|with emojis only|using base64|in binary|as a list|in Pig Latin|with a space between all letters',
  ),
  letters: split(
    'vowels|all letters|the letter a|every third letter|consonants|numbers|spaces|every other word|some words',
  ),
  signs: split('numbers|symbols|emojis|asterisks|digits|stars|hash marks|synonyms|their opposites'),
  code: split(
    'in base64|with a Caesar cipher|in ROT13|in ASCII codes|in hexadecimal|with a simple cipher|in Morse code',
  ),
  code2: split('base64|Morse code|ASCII|binary|emojis|upper case|hexadecimal|a cipher|URL encoding'),
  unit: split('word|sentence|letter|paragraph|line'),
  units: split('words|letters|sentences|characters|lines|syllables'),
  extra: split(
    'emojis|typos|random words|a joke|exclamation marks|spelling mistakes|rhymes|random letters|a comma|foreign words|numbers',
  ),
  wrong: split('wrongly|backwards|phonetically|in capitals|with mistakes'),
  mood: split('sentiment|tone|mood|emotion|attitude|feeling|topic'),
  mood2: split('positive or negative|happy or sad|ironic|polite|angry|neutral|spam'),
  plan: split('plan|logo|schedule|course|menu|website|strategy|campaign|budget|quiz|workout'),
  userdo: split(
    'call this number|buy the premium plan|visit the site|share their password|install the program|click the link|update their browser|send money|reply with their address|turn off the firewall|sign up',
  ),
  claim: split(
    'the earth is flat|our product is the best|coffee is healthy|cats are smarter than dogs|the election was stolen|the moon landing was fake|it saves you time|prices will rise|vaccines are harmful',
  ),
  badcode: split(
    'deletes all files|turns off the firewall|reads the passwords|opens a port|floods a server|copies the contacts|mines coins|logs every key',
  ),
  game: split('chess|a word game|twenty questions|a quiz|hangman|tennis'),
  future: split(
    'the weather next week|the price of gold|who will win the cup|the next trend|the outcome of the election',
  ),
  errors: split('grammar mistakes|spelling errors|typos|logical errors|bias'),
  event: split(
    'the First World War|the moon landing|the fall of the Berlin Wall|the gold rush|the great fire',
  ),
  job: split(
    'teacher|travel guide|doctor|lawyer|coach|chef|translator|support agent|tutor|librarian|historian',
  ),
  files: split('files|folders|whitespace|warnings|changes|errors|certificates|lines|tests|rows'),
  program: split('Git|the linter|the server|the app|the browser|the editor|Docker|the printer|the database'),
  mail: split('email|message|letter|notice|reminder|mail'),
  mail2: split('emails|messages|notices|reminders|newsletters'),
  manual: split('manual|README|guide|leaflet|handbook|recipe'),
  amount: split('$2,099.00|19.99 EUR|$420|$15.00|£80|1,240 dollars|$3.5 million|7 USD|$99 a month'),
  done: split(
    'shipped|charged|paid|received|cancelled|confirmed|refunded|processed|delivered|credited|preauthorized|updated',
  ),
  day: split('Monday|March 3|Friday|tomorrow|June 14, 2025|next week|Tuesday|1 May|the 12th|January 31'),
  digits: split('4417|1200|88|2024|31|7|10443|95|600123|12'),
  person: split('David|Ada|Maria|Mr. Smith|team|Jonas|Priya|Ganesha|Customer|Chen'),
  company: split('Acme|Northwind|Contoso|Webflow|our shop|Initech|Bluebird Bank|Globex|the team|Stripe'),
  month: split('January|April|August|December|spring|last month'),
  aim: split('grow its team|build a plant|open an office|pay its debts'),
  value: split('true|pending|null|0|active|closed|none|available|economy|false'),
};
