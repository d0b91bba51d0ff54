import type { Json } from "../../core/chain/canonical.js";

/** Endings of files that hold a document, a sound or a film. */
const OTHER_FILES =
  /\.(?:pdf|docx?|xlsx?|pptx?|odt|rtf|txt|md|html?|csv|json|xml|mp4|m4v|mov|mpe?g|avi|wmv|flv|webm|mkv|3gpp?|mp3|m4a|wav|ogg|oga|opus|flac|aac)$/i;
const IMAGE_FILES = /\.(?:png|jpe?g|jfif|gif|webp|bmp|tiff?|heic|heif|avif|svg|ico)$/i;
/** Addresses of films, and of files that Gemini keeps. Their names do not say what they hold. */
const KEPT = /(?:^|\.)(?:youtube\.com|youtu\.be)$|^generativelanguage\.googleapis\.com$/i;
const SCHEME = /^([a-z][a-z0-9+.-]{0,30}):/i;

/**
 * Whether what is sent as an image can be taken for one. Servers that translate for Gemini take films and documents in the same place, by
 * their address, by the type of a data URL or by a member that says the format.
 */
export function isImageAddress(url: string, format: Json | undefined): boolean {
  if (typeof format === "string") return /^image\//i.test(format);
  const [, scheme = ""] = SCHEME.exec(url) ?? [];
  switch (scheme.toLowerCase()) {
    case "":
      return true;
    case "data":
      return /^data:(?:image\/|[;,])/i.test(url);
    case "http":
    case "https": {
      if (!URL.canParse(url)) return true;
      const { hostname, pathname } = new URL(url);
      return !KEPT.test(hostname) && !OTHER_FILES.test(pathname);
    }
    default:
      return IMAGE_FILES.test(url);
  }
}
