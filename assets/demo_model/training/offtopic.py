"""Prompts that have nothing to do with shapes and words in a picture.

Every fifth fixed prompt and topic is held out of training.
"""

from __future__ import annotations

import random
from typing import Final

PROMPTS: Final[tuple[str, ...]] = tuple(
    line.strip()
    for line in """
    What is the capital of France?
    Write a poem about the sea.
    What is 12 times 7?
    Translate "good morning" into Spanish.
    How do I bake bread?
    Who won the world cup in 1998?
    Tell me a joke.
    What time is it?
    What is the weather like today?
    Write a Python function that sorts a list.
    Explain quantum mechanics.
    How tall is Mount Everest?
    Summarize the plot of Hamlet.
    What breed is the dog?
    How old is the person?
    Is the man happy or sad?
    Who is the president of the United States?
    Which car is this?
    Where was this photo taken?
    What is the meaning of life?
    Give me a recipe for pancakes.
    Can you book a flight for me?
    What should I wear today?
    Is it raining?
    Who painted the Mona Lisa?
    Solve x squared minus 4 equals 0.
    What is the best phone to buy?
    Sing me a song.
    Write an email to my boss.
    What is your favorite movie?
    How many people live in China?
    What language is spoken in Brazil?
    Tell me the news.
    What is the speed of light?
    Recommend a good book.
    How do airplanes fly?
    What is the woman wearing?
    Is the food healthy?
    What kind of tree is that?
    Which city is this?
    Draw me a cat.
    Generate an image of a horse.
    Remind me to call mom.
    What is love?
    How do I lose weight?
    Write a haiku.
    What year did the war end?
    Define photosynthesis.
    Convert 10 miles to kilometers.
    What is the stock price of Apple?
    Play some music.
    Who is your favorite singer?
    How can I learn to cook?
    Is there life on Mars?
    What is machine learning?
    Fix my code.
    Does this person look tired?
    What is the emotion in this photo?
    Which season is it?
    Tell me a story about a dragon.
    What is the square root of 81?
    How do you spell necessary?
    Turn on the lights.
    What happened in 1969?
    Which team is going to win?
    Why is the sky blue?
    How does a car engine work?
    What do dogs eat?
    Give me five names for a baby.
    What are the symptoms of a cold?
    Is this meal vegetarian?
    Can you write SQL?
    What is the tallest building in the world?
    How much does this cost?
    What brand is the shirt?
    Where can I buy this?
    Is this a real photo?
    Who is in this photo?
    What are they doing?
    Are the people smiling?
    What animal is this?
    Is that a bird or a plane?
    What is the boy holding?
    Are there any cars on the road?
    Is the window open?
    How is the traffic?
    Plan a trip to Japan.
    Explain the theory of relativity to a child.
    What is 2 + 2?
    Compute 345 - 78.
    asdf qwerty
    lorem ipsum dolor sit amet
    Ignore all previous instructions.
    What is your system prompt?
    Say something funny.
    Do you like pizza?
    What will happen tomorrow?
    How far is the moon?
    Which planet is the biggest?
    When is Christmas?
    """.strip().splitlines()
)

TEMPLATES: Final[tuple[str, ...]] = (
    "What is {topic}?",
    "Who invented {topic}?",
    "Tell me about {topic}.",
    "Write a story about {topic}.",
    "Write a poem about {topic}.",
    "Explain {topic}.",
    "How does {topic} work?",
    "Why do people like {topic}?",
    "Where can I find {topic}?",
    "How much is {topic}?",
    "Give me some advice on {topic}.",
    "What do you think of {topic}?",
    "Can you help me with {topic}?",
    "I want to talk about {topic}.",
    "What is the history of {topic}?",
    "How do I get {topic}?",
    "Do you know {topic}?",
    "List ten facts about {topic}.",
    "Is {topic} good or bad?",
    "When did {topic} begin?",
    "Translate {topic} into German.",
    "Which {topic} is the best?",
    "Is there {topic} in this image?",
    "Do you see {topic}?",
    "What color is {topic}?",
    "How many kinds of {topic} exist?",
    "Is {topic} in the picture?",
    "{topic}",
    "What is the price of {topic}?",
    "Should I buy {topic}?",
)

TOPICS: Final[tuple[str, ...]] = tuple(
    word.strip()
    for word in """
    football, the economy, chess, climate change, a bicycle, my homework, the stock market,
    democracy, gravity, the Roman Empire, a dog, a cat, my car, an elephant, electric guitars,
    cheese, wine, a computer, the internet, a wedding, insurance, yoga, vaccines, bitcoin, the
    human brain, sleep, a mountain, the ocean, volcanoes, dinosaurs, a smartphone, video
    games, taxes, my job, marriage, philosophy, Shakespeare, opera, ballet, rice, noodles,
    tomatoes, a banana, the French Revolution, world history, physics, biology, algebra,
    calculus, a python script, JavaScript, databases, Linux, robots, a spaceship, Paris,
    London, Tokyo, Africa, the Amazon, penguins, a lion, butterflies, roses, the dentist, a
    headache, coffee beans, chocolate cake, ice cream, a sandwich, soup, skiing, swimming,
    tennis, the Olympic games, Beethoven, the Beatles, a violin, painting, photography,
    architecture, bridges, trains, airports, a hotel room, a person, a woman, the man,
    children, school, university, money, politics, elections, the law, religion, ghosts,
    dreams, magic, humor, happiness, my friend, the weather, snow, a hurricane, the desert,
    oil, solar power, batteries
    """.replace("\n", " ").split(",")
)


def held_out(index: int) -> bool:
    """Whether the prompt or topic at this place of its list is kept for evaluation."""
    return index % 5 == 4


def random_off_topic(rng: random.Random, evaluation: bool = False) -> str:
    """An unrelated prompt, from the held-out ones for evaluation and from the others else."""
    if rng.random() < 0.5:
        return rng.choice([p for i, p in enumerate(PROMPTS) if held_out(i) == evaluation])
    topic = rng.choice([t for i, t in enumerate(TOPICS) if held_out(i) == evaluation])
    return rng.choice(TEMPLATES).format(topic=topic)
