"""How people put their questions: templates by kind, and the carelessness of typing."""

from __future__ import annotations

import random
from typing import Final

PHRASES: Final[dict[str, tuple[str, ...]]] = {
    "describe": (
        *("Describe this image.",) * 4,
        *("What is the content of each image?",) * 3,
        *("What is in this image?",) * 3,
        "Describe the image.",
        "Describe this picture.",
        "Describe the picture in detail.",
        "Describe the scene.",
        "Describe what you see.",
        "What is in this image?",
        "What is in this picture?",
        "What's in the image?",
        "What's in this picture?",
        "What do you see?",
        "What can you see in this image?",
        "What is shown here?",
        "What does the image show?",
        "What does this picture show?",
        "What is the content of the image?",
        "What is the content of this image?",
        "What is the content of each image?",
        "What is this?",
        "Tell me about this picture.",
        "Tell me what you see.",
        "Please describe the image.",
        "Can you describe this image?",
        "Could you please tell me what is in this picture?",
        "Give me a full description of this image.",
        "Describe this image in one sentence.",
        "List the objects.",
        "List all the shapes in the picture.",
        "What objects are in the image?",
        "What shapes are in this picture?",
        "Which shapes do you see?",
        "Caption this image.",
        "Explain the image.",
        "Describe",
        "describe it",
        "What are the contents of the image?",
        "What is on the picture?",
    ),
    "count": (
        "How many shapes are there?",
        "How many objects are there?",
        "How many objects are in the image?",
        "How many shapes are in the picture?",
        "How many things do you see?",
        "How many shapes can you see?",
        "Count the shapes.",
        "Count the objects in this image.",
        "What is the number of objects?",
        "How many items are in this picture?",
        "How many are there?",
        "How many figures are shown?",
        "Please count all the shapes you can see.",
    ),
    "count_color": (
        "How many {color} shapes are there?",
        "How many {color} objects are there?",
        "How many {color} objects are in the image?",
        "How many of the shapes are {color}?",
        "How many {color} things do you see?",
        "How many shapes are {color}?",
        "Count the {color} shapes.",
        "Count the {color} objects.",
        "How many {color} ones are there?",
        "What is the number of {color} shapes in the picture?",
    ),
    "count_shape": (
        "How many {shapes} are there?",
        "How many {shapes} are in the image?",
        "How many {shapes} do you see?",
        "How many {shapes} can you count?",
        "Count the {shapes}.",
        "Count the {shapes} in this picture.",
        "What is the number of {shapes}?",
        "How many {shapes}?",
        "How many of the objects are {shapes}?",
    ),
    "color": (
        "What color is the {shape}?",
        "What colour is the {shape}?",
        "Which color is the {shape}?",
        "Which color does the {shape} have?",
        "What is the color of the {shape}?",
        "What's the color of the {shape}?",
        "What's the {shape}'s color?",
        "Tell me the color of the {shape}.",
        "The {shape} is what color?",
        "What color is the {shape} in the image?",
        "In what color is the {shape} drawn?",
    ),
    "color_at": (
        "What color is the shape {at}?",
        "What is the color of the object {at}?",
        "What colour is the object {at}?",
        "Which color is the thing {at}?",
    ),
    "shape": (
        "What shape is {color}?",
        "What shape is the {color} object?",
        "What is the shape of the {color} object?",
        "Which shape is {color}?",
        "What {color} shape is there?",
        "What is the {color} shape?",
        "What is the {color} thing?",
        "What shape does the {color} object have?",
        "Which shape is the {color} one?",
        "Name the {color} shape.",
    ),
    "shape_at": (
        "What shape is {at}?",
        "Which shape is {at}?",
        "What is the shape of the object {at}?",
        "What shape is the object {at}?",
    ),
    "thing_at": (
        "What is {at}?",
        "What's {at}?",
        "What is there {at}?",
        "What do you see {at}?",
        "What object is {at}?",
        "Which object is {at}?",
        "What can you see {at} of the image?",
        "Is there anything {at}?",
    ),
    "where": (
        "Where is the {thing}?",
        "Where's the {thing}?",
        "Where is the {thing} in the image?",
        "Where is the {thing} located?",
        "Where can I find the {thing}?",
        "In which part of the picture is the {thing}?",
        "What is the position of the {thing}?",
        "What is the location of the {thing}?",
        "Locate the {thing}.",
        "Find the {thing}.",
        "Where do you see the {thing}?",
        "Tell me where the {thing} is.",
    ),
    "size": (
        "What size is the {thing}?",
        "How big is the {thing}?",
        "Is the {thing} small or large?",
        "Is the {thing} large or small?",
        "How large is the {thing}?",
        "Is the {thing} big or small?",
        "What is the size of the {thing}?",
    ),
    "exists": (
        "Is there {a_thing}?",
        "Is there {a_thing} in the image?",
        "Is there {a_thing} in this picture?",
        "Is there {a_thing} here?",
        "Do you see {a_thing}?",
        "Can you see {a_thing}?",
        "Does the image contain {a_thing}?",
        "Does the picture have {a_thing}?",
        "Are there any {things}?",
        "Are there any {things} in the image?",
        "Do you see any {things}?",
        "Is {a_thing} in the picture?",
    ),
    "background": (
        "What color is the background?",
        "What colour is the background?",
        "What is the background color?",
        "What's the background?",
        "What is the background?",
        "What is the color of the background?",
        "Which color does the background have?",
        "What is in the background?",
        "Describe the background.",
        "Background color?",
        "On what background are the shapes?",
    ),
    "color_only": (
        "What color is it?",
        "What color is the shape?",
        "What color is the object?",
        "What color is this?",
        "Which color does the shape have?",
        "What is the color of the object?",
        "What is its color?",
    ),
    "shape_only": (
        "What shape is it?",
        "What shape is this?",
        "What shape is shown?",
        "What shape is in the picture?",
        "Which shape is it?",
        "Which shape do you see?",
        "What is the shape of the object?",
        "Name the shape.",
    ),
    "where_only": (
        "Where is it?",
        "Where is the shape?",
        "Where is the object?",
        "In which part of the picture is the shape?",
    ),
    "size_only": (
        "How big is it?",
        "What size is it?",
        "Is it small or large?",
        "How large is the shape?",
        "Is the object large or small?",
    ),
    "left": (
        "What is left of the {thing}?",
        "What is to the left of the {thing}?",
        "What's to the left of the {thing}?",
        "What is on the left of the {thing}?",
        "What is on the left side of the {thing}?",
        "Which objects are left of the {thing}?",
        "What do you see to the left of the {thing}?",
    ),
    "right": (
        "What is right of the {thing}?",
        "What is to the right of the {thing}?",
        "What's to the right of the {thing}?",
        "What is on the right of the {thing}?",
        "What is on the right side of the {thing}?",
        "Which objects are right of the {thing}?",
        "What do you see to the right of the {thing}?",
    ),
    "above": (
        "What is above the {thing}?",
        "What's above the {thing}?",
        "What is over the {thing}?",
        "Which objects are above the {thing}?",
        "What do you see above the {thing}?",
        "What is higher than the {thing}?",
    ),
    "below": (
        "What is below the {thing}?",
        "What's below the {thing}?",
        "What is under the {thing}?",
        "What is underneath the {thing}?",
        "What is beneath the {thing}?",
        "Which objects are below the {thing}?",
        "What do you see below the {thing}?",
        "What is lower than the {thing}?",
    ),
    "is_related": (
        "Is the {thing} {relation} the {other}?",
        "Is the {thing} {relation} the {other} in the image?",
        "Tell me, is the {thing} {relation} the {other}?",
    ),
    "read": (
        "What does it say?",
        "What does the image say?",
        "What does the picture say?",
        "What does the text say?",
        "What does the sign say?",
        "What is written here?",
        "What is written in the image?",
        "What's written in the picture?",
        "What word is in the picture?",
        "Which word do you see?",
        "What is the word?",
        "What text is in the image?",
        "Read the text.",
        "Read the word.",
        "Can you read this?",
        "Please read the text in the image.",
        "What number is shown?",
        "What letters do you see?",
        "What word is shown?",
        "Read it",
        "Transcribe the text.",
        "OCR this image.",
    ),
    "word_color": (
        "What color is the word?",
        "What color is the text?",
        "What is the color of the word?",
        "What colour is the text?",
        "In what color is the word written?",
    ),
    "each": (
        *("What is the content of each image?",) * 4,
        "What is the content of each image?",
        "What is in each image?",
        "Describe each image.",
        "Describe the images.",
        "Describe each picture.",
        "Describe these images.",
        "What is the content of the images?",
        "What do the images show?",
        "What is in these pictures?",
        "What do you see in each image?",
        "Describe all the images.",
        "Tell me what is in each picture.",
        "What is in the images?",
        "Describe what you see.",
        "What do you see?",
    ),
    "which": (
        "Which image has {a_thing}?",
        "Which image shows {a_thing}?",
        "Which picture has {a_thing}?",
        "Which image contains {a_thing}?",
        "In which image is there {a_thing}?",
        "Which one has {a_thing}?",
        "Which of the images has {a_thing}?",
    ),
    "which_background": (
        "Which image has {a_color} background?",
        "Which picture has {a_color} background?",
        "Which image is on {a_color} background?",
    ),
    "which_word": (
        'Which image says "{word}"?',
        "Which image says {word}?",
        'Which image has the word "{word}"?',
        'Which picture shows the word "{word}"?',
    ),
    "which_none": ("Which image has {a_thing}?", "Which picture has {a_thing}?"),
    "images_count": (
        "How many images are there?",
        "How many pictures do you see?",
        "How many images did I send?",
    ),
    "text_who": (
        "Who are you?",
        "What are you?",
        "What is your name?",
        "What can you do?",
        "Hello",
        "Hello!",
        "Hi",
        "Hi there",
        "Hey",
        "Good morning",
        "Help",
        "What model are you?",
        "Tell me about yourself.",
        "Are you GPT?",
        "Are you a robot?",
        "Introduce yourself.",
        "How are you?",
        "Who made you?",
        "What is Bifocal?",
        "What do you know?",
        "How can you help me?",
        "Are you human?",
        "What languages do you speak?",
        "test",
    ),
}
"""Kind -> templates; what stands in braces is filled in."""

OF_IMAGE: Final[tuple[str, ...]] = (
    "{question} (image {n})",
    "In image {n}: {question}",
    "In the {nth} image, {lower}",
    "Look at image {n}. {question}",
    "About image {n}: {question}",
    "In picture {n}, {lower}",
    "For the {nth} picture: {question}",
)
"""How a question about one picture names which of several it means."""

DESCRIBE_NTH: Final[tuple[str, ...]] = (
    "What is in image {n}?",
    "What is in the {nth} image?",
    "Describe image {n}.",
    "Describe the {nth} image.",
    "What does the {nth} picture show?",
    "What do you see in image {n}?",
    "What is the content of image {n}?",
)

ORDINALS: Final[tuple[str, ...]] = ("first", "second", "third", "fourth")

SYSTEM_PROMPTS: Final[tuple[str, ...]] = (
    "You are a helpful assistant.",
    "You are a helpful assistant.",
    "You are a helpful assistant that answers questions about images.",
    "Answer briefly.",
    "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
    "Be concise and precise.",
    "You are a pirate. Answer like a pirate.",
    "Always answer in French.",
    "You are an expert in computer vision. Look at every image with care.",
    "Answer in one word.",
    "You are a friendly robot.",
)

ROLES: Final[tuple[str, ...]] = tuple(
    """helpful assistant, teacher, doctor, chef, poet, lawyer, wizard, careful observer, critic,
    museum guide, comedian, translator, child, scientist, journalist, helpful and honest assistant,
    vision model, customer support agent, detective, sports commentator, friendly AI""".replace(
        "\n   ", ""
    ).split(", ")
)
MANNERS: Final[tuple[str, ...]] = tuple(
    """Be brief. | Be polite. | Answer in English. | Answer truthfully. | Do not guess. |
    Use simple words. | Think step by step. | Answer in rhymes. | Never use emojis. |
    Answer with one sentence. | Explain your answer. | Speak like Yoda. | Today is Monday. |
    The user's name is Alex. | Reply in JSON. | Be creative. | If unsure, say so.""".replace(
        "\n   ", ""
    ).split(" | ")
)


def system_prompt(rng: random.Random) -> str:
    """A system prompt, none of which changes the answers."""
    draw = rng.random()
    if draw < 0.4:
        return SYSTEM_PROMPTS[0]
    if draw < 0.7:
        return rng.choice(SYSTEM_PROMPTS)
    role, manner = rng.choice(ROLES), rng.choice(MANNERS)
    first = f"You are a {role}." if draw < 0.95 else ""
    return f"{first} {manner}".strip() if draw > 0.78 else first


def typed(rng: random.Random, text: str) -> str:
    """The same question as people type it: small letters, no full stop, a slip of the finger."""
    draw = rng.random()
    if draw < 0.6:
        return text
    if draw < 0.8:
        text = text.lower()
    if draw > 0.7 and text[-1] in ".?!":
        text = text[:-1]
    if 0.78 < draw < 0.82:
        text = f"Please {text[0].lower()}{text[1:]}"
    if 0.86 < draw < 0.88:
        text = f"{text[:-1]} please{text[-1]}" if text[-1] in ".?!" else f"{text} please"
    if draw > 0.94 and '"' not in text:
        text = slip(rng, text)
    return text


def slip(rng: random.Random, text: str) -> str:
    """One letter left out, doubled, or swapped with the next."""
    at = rng.randrange(1, max(2, len(text) - 2))
    if not text[at : at + 2].isalpha():
        return text
    draw = rng.random()
    if draw < 0.35:
        return text[:at] + text[at + 1 :]
    if draw < 0.6:
        return text[:at] + text[at] + text[at:]
    return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
