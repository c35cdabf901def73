"""What is publicly known about negotiating, noted in a sentence each, and asked for in other words."""

from typing import Final

LESSONS: Final = (
    (
        "The first number on the table pulls the outcome towards it, even when everybody knows it is arbitrary.",
        "does starting high influence where we end up",
    ),
    (
        "Know your best alternative before the talks begin; it is the only honest source of power.",
        "what should I prepare so that I can leave without fear",
    ),
    (
        "Trade what costs you little for what is worth much to them.",
        "how do we exchange concessions across topics of unequal importance",
    ),
    (
        "A precise opening figure is believed to rest on knowledge and is countered less.",
        "is it better to ask for an odd sum than a round one",
    ),
    ("Concessions that shrink tell the other side that the limit is near.", "what do smaller and smaller steps signal"),
    (
        "Ask open questions and let them explain their interests behind the position.",
        "how to find out what they really need",
    ),
    (
        "When both expect different futures, let the contract depend on what happens.",
        "we disagree about a forecast, how can we still sign",
    ),
    ("Label the emotion you hear; naming it calms it.", "counterpart is angry, what do I do"),
    ("Never concede without asking for something in return.", "should I give in for nothing"),
    ("A deadline that only you know can be a weapon against yourself.", "is it wise to hide when my time runs out"),
    (
        "Agree on objective criteria such as market prices before you argue about figures.",
        "how to make a fair standard decide instead of willpower",
    ),
    ("Separate the people from the problem.", "how do I attack the issue without hurting the relationship"),
    (
        "Write the summary yourself after every meeting: whoever holds the pen frames the deal.",
        "who ought to draft the minutes",
    ),
    (
        "Limited authority is a shield: what you cannot decide you cannot be pushed to decide.",
        "pretend I must consult my manager first",
    ),
    ("The winner's curse: an offer taken at once was too generous.", "they said yes immediately, did I overpay"),
    ("Reciprocity makes people return even small favours.", "will a gift oblige them"),
    ("People hate losses about twice as much as they like equal gains.", "frame it as what they would forfeit"),
    ("Offers that expire soon provoke refusal when they look like tricks.", "are exploding proposals wise"),
    ("Rehearse with a colleague who plays the other side.", "practising through role play beforehand"),
    ("Talk about salary after the employer wants you, not before.", "when in a job interview should pay come up"),
    (
        "In a tender the second best bidder decides what the best one can earn.",
        "what limits the profit of an auction winner",
    ),
    (
        "A mediator who speaks with each side alone finds deals that neither dared to offer.",
        "when does a neutral third party help",
    ),
    (
        "Post-settlement talks can improve a deal that is already signed for both.",
        "can an agreement be made better for everyone after closing",
    ),
    ("Cultural norms differ: a direct no is rude in some places.", "why do foreign partners avoid refusing openly"),
    (
        "Ultimatums work only when the threat is believable and you are ready to carry it out.",
        "should I bluff about leaving",
    ),
    (
        "Small talk before the first offer raises the odds of agreement, by mail most of all.",
        "is chatting about weekends a waste",
    ),
    (
        "Anchors lose force when you answer with your own figure at once instead of arguing about theirs.",
        "how to react to an outrageous bid",
    ),
    ("Sunk costs are no reason to accept bad terms.", "we invested so much already, must we go on"),
    ("Three equivalent packages show which issue matters most to them.", "learn priorities by giving a menu"),
    ("The reservation price is the point where no deal becomes better.", "where exactly do I stop bargaining"),
    (
        "A bracketed range invites the other side to hear only its favourable end.",
        "is it fine to say between this and that",
    ),
    (
        "Fairness counts: people refuse money when the split insults them.",
        "why would somebody reject a profitable deal",
    ),
    ("Bring an issue that you can afford to lose, and lose it visibly.", "decoy demand to sacrifice"),
    (
        "Silence after your own offer is stronger than any justification.",
        "do not keep talking when you have named your terms",
    ),
    ("Let the landlord compete with time: empty flats cost him each month.", "leverage for a tenant"),
    (
        "Longer commitments are worth a discount to whoever fears losing the customer.",
        "what can a multi year promise buy",
    ),
    ("Ask what would have to be true for the answer to become yes.", "they refuse, how do I keep the door open"),
    ("Check that the person opposite can decide before you show your limit.", "make sure they are empowered"),
    ("Teams claim more when one speaks and another only listens.", "should several of us attend and split roles"),
    (
        "Put a price on every extra, or extras will be asked for at the very end.",
        "protect against last minute nibbling",
    ),
    ("A deal that only one side likes will be renegotiated or broken.", "why leave something for them"),
    ("Emotional outbursts get concessions once and reputation damage for ever.", "does shouting help"),
    ("Look for the hidden table: those who are absent may veto.", "stakeholders outside the room"),
    ("Decide in advance what you will not say.", "keep secrets from slipping out"),
    (
        "Suppliers who depend on one customer give better terms, and break sooner.",
        "risk of squeezing a dependent vendor",
    ),
)
