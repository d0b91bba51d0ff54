// A program that knows nothing of budgets: it asks a model some questions, in whatever way it is told to.
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "k" });
const model = process.env.MODEL ?? "scripted";
const messages = [{ role: "user", content: "Hello." }];
const ask = {
  chat: async () => (await client.chat.completions.create({ model, messages })).choices[0].message.content,
  responses: async () => (await client.responses.create({ model, input: "Hello." })).output_text,
  embeddings: async () => (await client.embeddings.create({ model, input: "Hello." })).data.length,
  stream: async () => {
    let text = "";
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    return text;
  },
  image: async () => client.images.generate({ model, prompt: "A cat." }),
  abort: async () => {
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const _ of stream) break;
    return "left";
  },
};

export async function main(kinds) {
  const outcomes = kinds.map((kind) =>
    ask[kind]().then(
      (value) => ({ value }),
      (error) => ({ error: error.message, status: error.status }),
    ),
  );
  console.log(JSON.stringify(await Promise.all(outcomes)));
}

await main(process.argv.slice(2));
